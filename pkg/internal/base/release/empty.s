// The function buildInfo has no body, which Go allows in packages with an assembly file.
