package output

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// otherThanText reports whether a parser of YAML 1.1 would read a plain scalar as a
// number, a time, a boolean or null.
func otherThanText(s string) bool {
	if s == "" {
		return true
	}
	switch c := s[0]; {
	case c == '.':
		return word(s) || decimal(s)
	case c == '+' || c == '-' || c >= '0' && c <= '9':
		return word(s) || whole(s) || decimal(s) || isTime(s) || strings.Contains(s, ":") && base60().MatchString(s)
	}
	return word(s)
}

// word reports whether text is a word with another meaning.
func word(s string) bool {
	switch s {
	case "~", "null", "Null", "NULL",
		"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON",
		"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF",
		".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF":
		return true
	}
	return false
}

// whole reports whether text is an integer in any base of Go.
func whole(s string) bool {
	s = strings.ReplaceAll(s, "_", "")
	if _, err := strconv.ParseInt(s, 0, 64); err == nil {
		return true
	}
	if _, err := strconv.ParseUint(s, 0, 64); err == nil {
		return true
	}
	if binary, ok := strings.CutPrefix(s, "0b"); ok { // even with a sign in between
		_, err := strconv.ParseInt(binary, 2, 64)
		return err == nil
	}
	if binary, ok := strings.CutPrefix(s, "-0b"); ok {
		_, err := strconv.ParseInt("-"+binary, 2, 64)
		return err == nil
	}
	return false
}

// decimal reports whether text is a decimal number: digits, a point and an exponent, or
// what Go accepts if it starts with a point.
func decimal(s string) bool {
	if s[0] != '.' {
		s = strings.ReplaceAll(s, "_", "")
		if strings.Trim(s, "0123456789.eE+-") != "" {
			return false
		}
		digits := strings.TrimLeft(s, "+-")
		if digits == "" || digits[0] == 'e' || digits[0] == 'E' {
			return false
		}
	}
	_, err := strconv.ParseFloat(s, 64)
	return err == nil
}

// base60 matches the base 60 numbers of YAML 1.1.
var base60 = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$`)
})

func isTime(s string) bool {
	if len(s) < 5 || s[4] != '-' || strings.Trim(s[:4], "0123456789") != "" {
		return false
	}
	for _, layout := range []string{"2006-1-2T15:4:5.999999999Z07:00", "2006-1-2t15:4:5.999999999Z07:00", "2006-1-2 " +
		"15:4:5.999999999", "2006-1-2"} {
		if _, err := time.Parse(layout, s); err == nil {
			return true
		}
	}
	return false
}
