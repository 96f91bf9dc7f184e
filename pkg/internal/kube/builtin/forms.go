package builtin

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"
)

// The forms of strings, as error messages.

func notEmpty(s string) []string {
	if s == "" {
		return []string{"must not be empty"}
	}
	return nil
}

func longest(limit int) func(string) []string {
	return func(s string) []string {
		if len(s) > limit {
			return []string{fmt.Sprintf("may not be more than %d bytes", limit)}
		}
		return nil
	}
}

func lower(of func(string) []string) func(string) []string {
	return func(s string) []string { return of(strings.ToLower(s)) }
}

func labelKey(s string) []string {
	return details(metavalidation.ValidateLabelName(s, field.NewPath("key")))
}

func absolute(s string) []string {
	if !strings.HasPrefix(s, "/") {
		return []string{"must be an absolute path"}
	}
	return nil
}

// windowsUser accepts the names of users, with or without a domain.
func windowsUser(s string) []string {
	user := s[strings.LastIndex(s, `\`)+1:]
	if user == "" || len(user) > 104 || strings.ContainsAny(user, `"/:;|=,+*?<>@[]`) || strings.Trim(user, ". ") == "" {
		return []string{`must be a user of Windows, as USER or DOMAIN\USER`}
	}
	return nil
}

// searchDomain accepts entries of the search list in resolv.conf.
func searchDomain(s string) []string {
	if s == "." {
		return nil
	}
	return validation.IsDNS1123SubdomainWithUnderscore(strings.TrimSuffix(s, "."))
}

var sysctlName = regexp.MustCompile(`^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`)

func sysctl(s string) []string {
	if len(s) > 253 || !sysctlName.MatchString(s) {
		return []string{"must be the name of a kernel parameter, such as net.core.somaxconn"}
	}
	return nil
}

func driverName(s string) []string {
	return append(longest(63)(s), lower(subdomain)(s)...)
}

func ingressHost(s string) []string {
	if strings.Contains(s, "*") {
		return validation.IsWildcardDNS1123Subdomain(s)
	}
	return subdomain(s)
}

func ruleHost(s string) []string {
	if netutils.ParseIPSloppy(s) != nil {
		return []string{"must be a DNS name, not an IP address"}
	}
	return ingressHost(s)
}

func finalizer(s string) []string {
	if messages := validation.IsQualifiedName(s); len(messages) > 0 {
		return messages
	}
	if !strings.Contains(s, "/") && !slices.Contains([]string{"kubernetes", "orphan", "foregroundDeletion"}, s) {
		return []string{"name is neither a standard finalizer name nor is it fully qualified"}
	}
	return nil
}

func kubeFinalizer(s string) []string {
	if s == "orphan" || s == "foregroundDeletion" {
		return []string{"name is neither a standard finalizer name nor is it fully qualified"}
	}
	return finalizer(s)
}

func reclaimPolicy(s string) []string {
	if s != "Delete" && s != "Retain" {
		return []string{`supported values: "Delete", "Retain"`}
	}
	return nil
}

func limitType(s string) []string {
	if messages := validation.IsQualifiedName(s); len(messages) > 0 {
		return messages
	}
	if !strings.Contains(s, "/") && !slices.Contains([]string{"Pod", "Container", "PersistentVolumeClaim"}, s) {
		return []string{"must be a standard limit type or fully qualified"}
	}
	return nil
}

var accessModes = []string{"ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"}

var quotaScopes = []string{"Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass", "CrossNamespacePodAffinity"}

func scopeName(s string) []string {
	if !slices.Contains(quotaScopes, s) {
		return []string{"unsupported scope"}
	}
	return nil
}

// ifNotEmpty applies a form also through pointers only to text.
func ifNotEmpty(messages func(string) []string) check {
	return func(v reflect.Value, at *field.Path) field.ErrorList {
		if s, _ := text(v); s != "" {
			return invalid(s, messages(s), at)
		}
		return nil
	}
}

func needPointer(v reflect.Value, at *field.Path) field.ErrorList {
	if !v.IsNil() && v.Elem().IsZero() {
		return field.ErrorList{field.Required(at, "")}
	}
	return nil
}

func atMost(limit int) check {
	return func(v reflect.Value, at *field.Path) field.ErrorList {
		if v.Len() > limit {
			return field.ErrorList{field.Invalid(at, v.Len(), fmt.Sprintf("must have at most %d items", limit))}
		}
		return nil
	}
}

// alone forbids other entries beside one.
func alone(only string) check {
	return func(v reflect.Value, at *field.Path) field.ErrorList {
		for i := range v.Len() {
			for j := range v.Len() {
				if v.Index(i).String() == only && v.Index(j).String() != only {
					return field.ErrorList{field.Forbidden(at, fmt.Sprintf("may not use %s with other access modes", only))}
				}
			}
		}
		return nil
	}
}

func portOrName(v reflect.Value, at *field.Path) field.ErrorList {
	p, _ := v.Interface().(intstr.IntOrString)
	if p.Type == intstr.String {
		return invalid(p.StrVal, validation.IsValidPortName(p.StrVal), at)
	}
	return invalid(p.IntVal, validation.IsValidPortNum(int(p.IntVal)), at)
}

// quantityFrom accepts quantities of at least 0, or above it for 1.
func quantityFrom(sign int) check {
	return func(v reflect.Value, at *field.Path) field.ErrorList {
		q, _ := v.Interface().(*resource.Quantity)
		if q == nil || q.Sign() >= sign {
			return nil
		}
		return field.ErrorList{
			field.Invalid(at, q.String(), map[int]string{0: "must be greater than or equal to 0", 1: "must be positive"}[sign]),
		}
	}
}

// The names of resources.

func resourceName(s string) []string {
	if messages := validation.IsQualifiedName(s); len(messages) > 0 {
		return messages
	}
	if !strings.Contains(s, "/") && !slices.Contains(standardResources, s) && !strings.HasPrefix(s, "hugepages-") {
		return []string{"must be a standard resource type or fully qualified"}
	}
	return nil
}

var standardResources = append([]string{"cpu", "memory", "ephemeral-storage", "storage"}, quotaResources...)

var quotaResources = []string{
	"requests.cpu", "requests.memory", "requests.ephemeral-storage", "requests.storage", "limits.cpu", "limits.memory",
	"limits.ephemeral-storage",
	"pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "persistentvolumeclaims", "configmaps", "services.nodeports",
	"services.loadbalancers",
}

func containerResource(s string) []string {
	prefix, _, qualified := strings.Cut(s, "/")
	switch {
	case !qualified && !slices.Contains([]string{"cpu", "memory", "ephemeral-storage"}, s) && !strings.HasPrefix(s, "hugepages-"):
		return []string{"must be a standard resource for containers"}
	case qualified && !strings.Contains(prefix, "kubernetes.io") &&
		(strings.HasPrefix(s, "requests.") || len(validation.IsQualifiedName("requests."+s)) > 0):
		return []string{"doesn't follow extended resource name standard"}
	}
	return resourceName(s)
}

// whole reports whether a resource comes only in whole numbers.
func whole(name corev1.ResourceName) bool {
	s := string(name)
	return strings.Contains(s, "/") && !strings.Contains(s, "kubernetes.io/") || slices.Contains(quotaResources[7:], s)
}

// overcommits reports whether a limit may be above the request.
func overcommits(name corev1.ResourceName) bool {
	s := string(name)
	return (!strings.Contains(s, "/") || strings.Contains(s, "kubernetes.io/")) && !strings.HasPrefix(s, "hugepages-")
}
