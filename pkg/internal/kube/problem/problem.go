package problem

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/manifest"
)

// Problem is an error or a warning about an emitted object.
type Problem struct {
	Object  string // Kind/name
	Path    string // in the API server's notation (spec.versions[0].schema); "" for the whole object
	Code    string // stable, kebab-case: a constant of this package
	Message string
	Hint    string // how to fix it; may be empty
	Warning bool   // the API server accepts it
	Final   bool   // the API server looks no further: other problems are not known

	// What code asks of a problem, because it never reads Message and Hint.
	Required    bool   // a value is missing
	Forbidden   bool   // other values forbid this one, or lack what it refers to
	Unsupported bool   // the value is not a supported one
	Value       string // the text that is not accepted, if it is one
	Almost      string // the field that an unknown one probably misspells
	Type        string // the name of the Go type that does not accept the value or has no such field, such as Quantity; "" for most
}

var segment = regexp.MustCompile(`[^.\[\]]+|\[[^\]]*\]`)

// Segments splits the path: a[0].b[c.d] has the segments a, 0, b and c.d.
func (p Problem) Segments() []string {
	segments := segment.FindAllString(p.Path, -1)
	for i, s := range segments {
		segments[i] = strings.Trim(s, "[]")
	}
	return segments
}

// Report collects the problems of one object.
type Report struct {
	Object   manifest.Object
	Problems []Problem
}

// About returns an empty report about an object.
func About(object manifest.Object) *Report { return &Report{Object: object} }

// Add adds a problem. A nil path means the whole object.
func (r *Report) Add(path *field.Path, code, hint, format string, args ...any) {
	at := ""
	if path != nil {
		at = path.String()
	}
	r.Problems = append(r.Problems, Problem{
		Object: Reference(r.Object), Path: at, Code: code,
		Message: fmt.Sprintf(format, args...), Hint: hint,
	})
}

// Reference returns KIND/NAME of an object.
func Reference(o manifest.Object) string {
	return o.GetObjectKind().GroupVersionKind().Kind + "/" + o.GetName()
}

// Sorted orders problems by object, and removes duplicates that two checks report.
func Sorted(problems []Problem) []Problem {
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(
			cmp.Compare(a.Object, b.Object),
			cmp.Compare(a.Path, b.Path),
			cmp.Compare(a.Code, b.Code),
			cmp.Compare(a.Message, b.Message),
		)
	})
	return slices.Compact(problems)
}
