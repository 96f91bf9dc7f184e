package jq

// RegexpError returns the error of jq for a regular expression and its flags, which may be nil.
func RegexpError(pattern string, flags any) error {
	err, _ := builtin("[match($a; $b)]").of("", pattern, flags).(error)
	return err
}
