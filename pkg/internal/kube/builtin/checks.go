package builtin

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	pathvalidation "k8s.io/apimachinery/pkg/api/validation/path"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"
)

// check validates the value of a field, which may be zero or a nil pointer.
type check func(v reflect.Value, at *field.Path) field.ErrorList

// needed requires a value.
func needed(v reflect.Value, at *field.Path) field.ErrorList {
	if v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0 {
		return field.ErrorList{field.Required(at, "")}
	}
	return nil
}

// text returns a string to validate. An empty one is absent unless a pointer refers
// to it.
func text(v reflect.Value) (string, bool) {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return "", false
		}
		return v.Elem().String(), true
	}
	return v.String(), v.Len() > 0
}

// among accepts the listed strings.
func among(allowed ...string) check {
	return func(v reflect.Value, at *field.Path) field.ErrorList {
		if s, ok := text(v); ok && !slices.Contains(allowed, s) {
			return field.ErrorList{field.NotSupported(at, s, allowed)}
		}
		return nil
	}
}

// trafficDistribution accepts what newer versions accept only with that note.
func trafficDistribution(v reflect.Value, at *field.Path) field.ErrorList {
	if s, _ := text(v); s == "PreferSameZone" || s == "PreferSameNode" {
		return field.ErrorList{newer(at, "1.34", "PreferSameTrafficDistribution")}
	}
	return among("PreferClose")(v, at)
}

// form accepts strings without a message.
func form(messages func(string) []string) check {
	return func(v reflect.Value, at *field.Path) field.ErrorList {
		if s, ok := text(v); ok {
			return invalid(s, messages(s), at)
		}
		return nil
	}
}

// always also validates an empty string.
func always(messages func(string) []string) check {
	return func(v reflect.Value, at *field.Path) field.ErrorList {
		return invalid(v.String(), messages(v.String()), at)
	}
}

// every applies a check to the entries of a list.
func every(of check) check {
	return func(v reflect.Value, at *field.Path) field.ErrorList {
		var errs field.ErrorList
		for i := range v.Len() {
			entry := v.Index(i)
			if entry.Kind() == reflect.String {
				entry = entry.Addr() // an entry is there even if it is empty
			}
			errs = append(errs, of(entry, at.Index(i))...)
		}
		return errs
	}
}

func number(v reflect.Value) (int64, bool) {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return 0, false
		}
		v = v.Elem()
	}
	return v.Int(), true
}

// from accepts integers from 0 or 1 on.
func from(least int64) check {
	return func(v reflect.Value, at *field.Path) field.ErrorList {
		if n, ok := number(v); ok && n < least {
			message := "must be greater than or equal to 0"
			if least == 1 {
				message = "must be greater than 0"
			}
			return field.ErrorList{field.Invalid(at, n, message)}
		}
		return nil
	}
}

// between accepts a range of integers.
func between(least, most int64) check {
	return func(v reflect.Value, at *field.Path) field.ErrorList {
		if n, ok := number(v); ok && (n < least || n > most) {
			return field.ErrorList{field.Invalid(at, n, fmt.Sprintf("must be between %d and %d, inclusive", least, most))}
		}
		return nil
	}
}

// ifSet applies a check to other than the zero value.
func ifSet(of check) check {
	return func(v reflect.Value, at *field.Path) field.ErrorList {
		if v.IsZero() {
			return nil
		}
		return of(v, at)
	}
}

var (
	portNumber = between(1, 65535)
	identity   = between(0, math.MaxInt32) // of a user or group
	fileMode   = between(0, 0o777)
)

// distinct requires that the entries of a list differ in the fields, as server-side
// apply does. An absent field counts with the value that is its default.
func distinct(defaults map[string]string, fields ...string) check {
	return func(v reflect.Value, at *field.Path) field.ErrorList {
		var errs field.ErrorList
		seen := map[string]bool{}
		for i := range v.Len() {
			key := keyOf(v.Index(i), defaults, fields)
			if key == "" {
				continue // the API server reports that it is missing
			}
			errs = append(errs, duplicate(key, seen, at.Index(i))...)
		}
		return errs
	}
}

func keyOf(entry reflect.Value, defaults map[string]string, fields []string) string {
	var parts []string
	for _, name := range fields {
		value := entry.FieldByName(name)
		if value.Kind() == reflect.Pointer && !value.IsNil() {
			value = value.Elem()
		}
		part := fmt.Sprint(value.Interface())
		if value.IsZero() {
			part = defaults[name]
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "/")
}

// differ requires that the strings of a list differ.
func differ(v reflect.Value, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := map[string]bool{}
	for i := range v.Len() {
		errs = append(errs, duplicate(fmt.Sprint(v.Index(i).Interface()), seen, at.Index(i))...)
	}
	return errs
}

// union allows one of the fields of an object, and requires one if some is given.
func union(object any, at *field.Path, none, several string) field.ErrorList {
	switch set := setFields(object); {
	case set == 0 && none != "":
		return field.ErrorList{field.Required(at, none)}
	case set > 1 && several != "":
		return field.ErrorList{field.Forbidden(at, several)}
	}
	return nil
}

// setFields counts the pointers of a struct that are not nil.
func setFields(object any) int {
	v, set := reflect.ValueOf(object), 0
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Pointer && !f.IsNil() && !unvalidated[place{v.Type(), jsonName(v.Type().Field(i))}] {
			set++
		}
	}
	return set
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

func labelMap(v reflect.Value, at *field.Path) field.ErrorList {
	labels, _ := v.Interface().(map[string]string)
	return metavalidation.ValidateLabels(labels, at)
}

func subdomain(s string) []string { return apivalidation.NameIsDNSSubdomain(s, false) }

// namePrefix accepts the beginning of a name, too.
func namePrefix(s string) []string { return apivalidation.NameIsDNSSubdomain(s, true) }

func label(s string) []string { return validation.IsDNS1123Label(s) }

func pathSegment(s string) []string { return pathvalidation.IsValidPathSegmentName(s) }

func domainPath(s string) []string {
	return details(validation.IsDomainPrefixedPath(field.NewPath("path"), s))
}

func address(s string) []string {
	if netutils.ParseIPSloppy(s) == nil {
		return []string{"must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"}
	}
	return nil
}

// endpoint accepts addresses that other hosts can reach.
func endpoint(s string) []string {
	ip := netutils.ParseIPSloppy(s)
	switch {
	case ip == nil:
		return address(s)
	case ip.IsUnspecified():
		return []string{"may not be unspecified (0.0.0.0 or ::)"}
	case ip.IsLoopback():
		return []string{"may not be in the loopback range (127.0.0.0/8, ::1/128)"}
	case ip.IsLinkLocalUnicast():
		return []string{"may not be in the link-local range (169.254.0.0/16, fe80::/10)"}
	case ip.IsLinkLocalMulticast():
		return []string{"may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"}
	}
	return nil
}

func network(s string) []string {
	if _, _, err := netutils.ParseCIDRSloppy(strings.TrimSpace(s)); err != nil {
		return []string{"must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"}
	}
	return nil
}

// relative accepts paths below a directory.
func relative(s string) []string {
	if strings.HasPrefix(s, "/") {
		return []string{"must be a relative path"}
	}
	return inside(s)
}

// inside accepts paths without "..".
func inside(s string) []string {
	if slices.Contains(strings.Split(s, "/"), "..") {
		return []string{"must not contain '..'"}
	}
	return nil
}

// fileName accepts paths of files in a volume, whose own files begin with "..".
func fileName(s string) []string {
	if strings.HasPrefix(s, "..") && !strings.HasPrefix(s, "../") {
		return []string{"must not start with '..'"}
	}
	return relative(s)
}

func details(errs field.ErrorList) []string {
	var out []string
	for _, err := range errs {
		out = append(out, strings.TrimPrefix(err.ErrorBody(), "Invalid value: "))
	}
	return out
}

// share accepts a number or a percentage.
func share(most100 bool) check {
	return func(v reflect.Value, at *field.Path) field.ErrorList {
		if v.IsNil() {
			return nil
		}
		p, _ := v.Interface().(*intstr.IntOrString)
		if p.Type == intstr.Int {
			return notNegative(&p.IntVal, at)
		}
		if errs := invalid(p.StrVal, validation.IsValidPercent(p.StrVal), at); len(errs) > 0 || !most100 || amount(p, 0) <= 100 {
			return errs
		}
		return field.ErrorList{field.Invalid(at, p.StrVal, "must not be greater than 100%")}
	}
}

// amount returns a number or a percentage without its sign; absent if it is nil.
func amount(p *intstr.IntOrString, absent int) int {
	if p == nil {
		return absent
	}
	plain := intstr.Parse(strings.TrimSuffix(p.String(), "%"))
	return plain.IntValue()
}

func duplicate(key string, seen map[string]bool, at *field.Path) field.ErrorList {
	if seen[key] {
		return field.ErrorList{field.Duplicate(at, key)}
	}
	seen[key] = true
	return nil
}

func required(value string, at *field.Path) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	return nil
}

func invalid(value any, messages []string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, message := range messages {
		errs = append(errs, field.Invalid(at, value, message))
	}
	return errs
}

// oneOf accepts an empty value, because the API server sets a default.
func oneOf[T ~string](value T, at *field.Path, allowed ...T) field.ErrorList {
	if value == "" || slices.Contains(allowed, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(at, value, allowed)}
}

func notNegative(value *int32, at *field.Path) field.ErrorList {
	if value != nil && *value < 0 {
		return field.ErrorList{field.Invalid(at, *value, "must be greater than or equal to 0")}
	}
	return nil
}
