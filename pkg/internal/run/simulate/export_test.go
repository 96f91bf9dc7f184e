package simulate

// ContainersOf is for external tests.
var ContainersOf = containersOf
