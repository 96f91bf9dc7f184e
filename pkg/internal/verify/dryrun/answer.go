package dryrun

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argoperator/argoperator/pkg/diag"
)

// answer is what the API server said of an object.
type answer struct {
	problems []Problem // it rejects the object
	warnings []string
	skipped  reason // it could not check the object
}

// Problem is a reason for which the API server rejects an object.
type Problem struct {
	Path    string // of the field, in the notation of the API server; "" if it names none
	Message string
	cause   metav1.CauseType // "" if the server names none
}

// Text returns the message with the path, which some messages contain.
func (p Problem) Text() string {
	if strings.Contains(p.Message, p.Path) {
		return p.Message
	}
	return diag.About(p.Path, p.Message)
}

// reason is why the API server could not check an object, with a hint.
type reason struct{ message, hint string }

// Messages that tell apart answers with the same reason and status code. Only this file
// reads the text of an answer.
var (
	// noRight is an answer of the authorizer. Admission answers Forbidden, too.
	noRight = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`User "[^"]*" cannot (\S+) resource "([^"]+)" in API group "([^"]*)"(?: in the namespace "([^"]+)")?`)
	})
	// mayNotGrant is the answer to a role, or a binding, with rights that the user
	// does not hold. It says nothing about the operator, which writes the role.
	mayNotGrant = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`user "[^"]*" \(groups=.*\) is attempting to grant RBAC permissions`)
	})
	noDryRun = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^admission webhook "[^"]+" does not support dry run`)
	})
	// typed is the answer to fields that server-side apply cannot merge.
	typed = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?s)failed to create typed patch object \([^)]*\): (?:errors:\n)?(.*)`)
	})
	typedField = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*\.(\S+(?:="[^"]*"\S*)?): (.*)$`) })
	// strict is the answer to fields that the schema does not have.
	strict       = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`strict decoding error: (.*)`) })
	unknownField = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`unknown field "([^"]+)"`) })
	// about is the object, which a finding names already.
	about = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\S+ "[^"]*" is (?:forbidden|invalid): `) })
)

// answerOf returns what an error says of an object.
func answerOf(err error) answer {
	var known apierrors.APIStatus
	if !errors.As(err, &known) {
		return answer{}
	}
	status := known.Status()
	if why := unchecked(status); why.message != "" {
		return answer{skipped: why}
	}
	return answer{problems: Problems(status)}
}

// unchecked returns why an answer says nothing about the object.
func unchecked(status metav1.Status) reason {
	details := status.Details
	if details == nil {
		details = &metav1.StatusDetails{}
	}
	denied := noRight().FindStringSubmatch(status.Message)
	switch {
	case status.Reason == metav1.StatusReasonForbidden && denied != nil:
		return missingRight(denied[1], denied[2], denied[3], denied[4])
	case mayNotGrant().MatchString(status.Message):
		return reason{
			"you may not grant these permissions, so the server does not check whether the operator may",
			"use a kubeconfig of a user who has these permissions",
		}
	case status.Reason == metav1.StatusReasonNotFound && details.Kind == "namespaces":
		return reason{fmt.Sprintf("namespace %q does not exist", details.Name), "kubectl create namespace " + details.Name}
	case apierrors.HasStatusCause(&apierrors.StatusError{ErrStatus: status}, "NamespaceTerminating"):
		return reason{"the namespace is being deleted", "choose another: kubectl config set-context --current --namespace=NAME"}
	case noDryRun().MatchString(status.Message):
		return reason{status.Message, "the configuration of the webhook must set sideEffects to None or NoneOnDryRun"}
	case status.Reason == metav1.StatusReasonNotFound || status.Code == http.StatusTooManyRequests,
		status.Code >= http.StatusInternalServerError && !typed().MatchString(status.Message):
		return reason{"response: " + firstLine(status.Message), ""}
	}
	return reason{}
}

func missingRight(verb, resource, group, namespace string) reason {
	name := strings.TrimSuffix(resource+"."+group, ".")
	if plural, subresource, ok := strings.Cut(resource, "/"); ok {
		name = strings.TrimSuffix(plural+"."+group, ".") + " --subresource=" + subresource
	}
	where, flag := "", ""
	if namespace != "" {
		where, flag = fmt.Sprintf(" in namespace %q", namespace), " -n "+namespace
	}
	return reason{
		fmt.Sprintf(
			"the user of the kubeconfig does not have permission to %s %s%s",
			verb,
			strings.TrimSuffix(resource+"."+group, "."),
			where,
		),
		fmt.Sprintf(
			"a server-side apply needs the verbs patch and create, also as a dry run: kubectl auth can-i %s %s%s",
			verb,
			name,
			flag,
		),
	}
}

// Problems returns the reasons in a refusal.
func Problems(status metav1.Status) []Problem {
	if found := typed().FindStringSubmatch(status.Message); found != nil {
		return typedProblems(found[1])
	}
	if found := strict().FindStringSubmatch(status.Message); found != nil {
		return strictProblems(found[1])
	}
	var out []Problem
	if status.Details != nil {
		for _, c := range status.Details.Causes {
			field := c.Field
			if field == "<nil>" {
				field = ""
			}
			if c.Message != "" {
				out = append(out, Problem{Path: field, Message: c.Message, cause: c.Type})
			}
		}
	}
	if len(out) == 0 {
		out = []Problem{{Message: about().ReplaceAllString(status.Message, "")}}
	}
	return out
}

// typedProblems splits the message of server-side apply about fields.
func typedProblems(text string) []Problem {
	var out []Problem
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if found := typedField().FindStringSubmatch(line); found != nil {
			out = append(out, Problem{Path: found[1], Message: found[2]})
		} else if line != "" {
			out = append(out, Problem{Message: line})
		}
	}
	return out
}

// strictProblems splits the message of strict decoding.
func strictProblems(text string) []Problem {
	var out []Problem
	for _, found := range unknownField().FindAllStringSubmatch(text, -1) {
		out = append(out, Problem{Path: found[1], Message: "unknown field"})
	}
	if len(out) == 0 {
		out = []Problem{{Message: text}}
	}
	return out
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
