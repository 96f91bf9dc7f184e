package admission

import (
	"regexp"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/diag"
)

// The libraries of the API server have more to say about a custom resource than a
// field.Error has fields for: they put it into the detail. Only this file reads details.

// wantedType matches the type, or the format, that the validator requires.
var wantedType = regexp.MustCompile(`^must be of type ([a-z0-9,-]+)`)

// regexNote matches the regular expression that the validator appends to a message.
var regexNote = regexp.MustCompile(`,? regex used for validation is '.*'\)`)

// detailOf returns the detail without the path and the regular expressions in it, and the
// types or the format that it wants, if any.
func detailOf(err *field.Error) (detail string, want []string) {
	detail = regexNote.ReplaceAllString(strings.TrimPrefix(err.Detail, err.Field+" in body "), ")")
	if found := wantedType.FindStringSubmatch(detail); found != nil {
		want = strings.Split(found[1], ",")
	}
	return detail, want
}

// pathOf returns the path of an error; the root has an empty path.
func pathOf(err *field.Error) string {
	path := strings.TrimPrefix(strings.TrimPrefix(err.Field, "<nil>"), ".")
	if found := validatePath.FindStringSubmatch(err.Detail); path == "" && found != nil {
		return found[1]
	}
	return path
}

// validatePath matches the path in an error of anyOf, oneOf, allOf and not.
var validatePath = regexp.MustCompile(`^"([^"]+)" must (?:not )?validate`)

// prefixPath adds the path to a detail, which may begin with it.
func prefixPath(path, message string) string {
	if strings.HasPrefix(strings.TrimPrefix(message, `"`), path) {
		return message
	}
	return diag.About(path, message)
}

// selfField matches a field of the object that a rule reads, and the parenthesis after the
// name of a function.
var selfField = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\bself((?:\.[A-Za-z_]\w*)+)(\(?)`) })

// fieldOfRule returns the only field that a failed rule about the whole object reads, such as
// metadata.name; "" if it reads several. An error has the message of its rule, or the rule.
func fieldOfRule(rules apiextensionsv1.ValidationRules, err *field.Error) string {
	only := ""
	for _, rule := range rules {
		if err.Detail != rule.Message && !strings.HasSuffix(err.Detail, "failed rule: "+strings.TrimSpace(rule.Rule)) {
			continue
		}
		for _, m := range selfField().FindAllStringSubmatch(rule.Rule, -1) {
			path := m[1][1:]
			if m[2] != "" {
				path = path[:max(0, strings.LastIndexByte(path, '.'))]
			}
			if path == "" || only != "" && only != path {
				return ""
			}
			only = path
		}
	}
	return only
}

// quoted matches a value in the list of those that a field supports.
var quoted = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"([^"\\]*)"`) })

// supported returns the values that an error lists in the place of an unsupported one: it has them nowhere else.
func supported(err *field.Error) []string {
	var out []string
	for _, m := range quoted().FindAllStringSubmatch(err.Detail, -1) {
		out = append(out, m[1])
	}
	return out
}

// LacksKey reports whether a validation rule failed because it reads a field that is not there.
func LacksKey(err *field.Error) bool { return strings.HasPrefix(err.Detail, "no such key: ") }
