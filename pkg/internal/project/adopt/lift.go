package adopt

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/project/scaffold"
)

// lifter turns values of objects into fields of the custom resource.
type lifter struct {
	*Manifest
	api     *scaffold.API
	secrets map[string]*secret // that no child creates, by name
	made    map[string]Expr    // names of the Secrets that others create for a child
}

// lift creates the fields that users set: replicas, images, resources, hosts.
// Values that users rarely set, or only together with the image, stay in the
// template.
func (m *Manifest) lift(p *scaffold.Project) {
	l := &lifter{Manifest: m, api: &p.API, secrets: map[string]*secret{}, made: map[string]Expr{}}
	var workloads []*piece
	for _, piece := range m.Kept {
		if PodTemplate(piece.Fields) != nil {
			workloads = append(workloads, piece)
		}
	}
	for _, piece := range workloads {
		var group []string
		if len(workloads) > 1 {
			group = []string{l.freeGroup(piece)}
		}
		l.workload(piece, group)
	}
	for _, piece := range m.Kept {
		l.other(piece)
	}
	l.nameMadeSecrets()
	for _, piece := range m.Kept {
		l.secretNames(piece)
	}
	l.noteSecrets(p)
	l.leaveSecrets()
	l.show(p, workloads)
}

// freeGroup returns the field for the values of a workload.
func (l *lifter) freeGroup(p *piece) string {
	name := camel(cmp.Or(strings.TrimPrefix(p.suffix, "-"), p.name), p.kind)
	if slices.ContainsFunc(l.api.Spec, func(f scaffold.Field) bool { return f.Name == name }) {
		name = camel(name+"-"+p.kind, p.kind)
	}
	return name
}

// field adds a field to the custom resource and returns the expression that reads
// it.
func (l *lifter) field(path []string, value string) Expr {
	fields, name := &l.api.Spec, path[len(path)-1]
	for _, group := range path[:len(path)-1] {
		i := slices.IndexFunc(*fields, func(f scaffold.Field) bool { return f.Name == group })
		if i < 0 {
			i = len(*fields)
			*fields = append(*fields, scaffold.Field{Name: group})
		}
		fields = &(*fields)[i].Fields
	}
	used := map[string]bool{}
	for _, f := range *fields {
		used[f.Name] = true
	}
	name = unused(name, used)
	*fields = append(*fields, scaffold.Field{Name: name, Value: value})
	return Expr("${ .spec." + strings.Join(append(slices.Clone(path[:len(path)-1]), name), ".") + " }")
}

// path returns the expression without its braces.
func (e Expr) path() string { return strings.TrimSuffix(strings.TrimPrefix(string(e), "${ "), " }") }

// sort describes a field: its type, its constraints, and the values that fit.
type sort struct {
	typ, limits string
	fits        *regexp.Regexp // nil: all
}

const dnsName = `[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*`

var (
	goodHost  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([*][.])?` + dnsName + `$`) })
	goodName  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^` + dnsName + `$`) })
	goodTimes = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(@[a-z]+|[^ TZ]+( [^ TZ]+){4})$`) })
	size      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[1-9][0-9]{0,5}(k|[KMGT]i|[MGT])?$`) })
	cpu       = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([1-9][0-9]{0,4}m?|[0-9]{1,3}[.][0-9]{1,3})$`) })
)

func text(limits string, fits *regexp.Regexp) sort {
	if fits != nil {
		limits = strings.TrimSpace(limits + " pattern=" + quotedMarker(fits.String()))
	}
	return sort{"string", limits, fits}
}

func whole(limits string) sort { return sort{"integer", limits, nil} }

func oneOf(words ...string) sort {
	return sort{"string", "enum=" + quotedMarker(strings.Join(words, ",")), regexp.MustCompile("^(" + strings.Join(words, "|") + ")$")}
}

// set turns the value of a key into a field if it fits; it does nothing if the key
// is missing.
func (l *lifter) set(object map[string]any, key string, path []string, s sort, description string) Expr {
	value, sampled := "", object[key]
	switch v := object[key].(type) {
	case string:
		value = quotedMarker(v)
		if s.typ != "string" || strings.ContainsAny(v, "\n\r\t") || len(v) > 200 || s.fits != nil && !s.fits.MatchString(v) || v == "" {
			return ""
		}
	case bool:
		value = strconv.FormatBool(v)
		if s.typ != "boolean" {
			return ""
		}
	case int64, float64:
		value = fmt.Sprint(v)
		_, integer := v.(int64)
		switch { // a quantity may be written as a number
		case s.typ == "string" && s.fits != nil && s.fits.MatchString(value):
			value, sampled = quotedMarker(value), value
		case s.typ != "integer" || !integer:
			return ""
		}
	default:
		return ""
	}
	e := l.field(path, fmt.Sprintf("%s | default=%s%s description=%s", s.typ, value, before(s.limits), quotedMarker(description)))
	object[key] = e
	l.remember(e, sampled)
	return e
}

func before(limits string) string {
	if limits == "" {
		return ""
	}
	return " " + limits
}

// quotedMarker quotes a text as the value of a marker.
func quotedMarker(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

func in(group []string, names ...string) []string { return append(slices.Clone(group), names...) }

// workload lifts the settings of pods.
func (l *lifter) workload(p *piece, group []string) {
	spec := Mapping(p.Fields, "spec")
	called := called(p.kind, p.name)
	l.replicas(p, spec, group)
	l.set(spec, "schedule", in(group, "schedule"), text("maxLength=100", goodTimes()), "Schedule of "+called+", in cron format")
	l.set(spec, "suspend", in(group, "suspend"), sort{typ: "boolean"}, "Whether "+called+" is suspended")
	pods := Mapping(PodTemplate(p.Fields), "spec")
	for i, c := range List(pods, "containers") {
		if c, ok := c.(map[string]any); ok {
			at := group
			if name, _ := c["name"].(string); i > 0 {
				at = in(group, camel(name, "container"))
			}
			l.container(c, at)
			l.environment(p, fmt.Sprintf("container %v", c["name"]), c, at)
		}
	}
	for _, c := range List(pods, "initContainers") {
		if c, ok := c.(map[string]any); ok {
			name, _ := c["name"].(string)
			l.set(c, "image", in(group, camel(name, "init"), "image"), text("minLength=1", nil), "Image of the init container "+name)
		}
	}
	for _, claim := range List(spec, "volumeClaimTemplates") {
		if claim, ok := claim.(map[string]any); ok {
			name, _ := Mapping(claim, "metadata")["name"].(string)
			l.storage(Mapping(claim, "spec"), in(group, "storage"), "volume "+name, " immutable=true")
		}
	}
}

// replicas are not lifted if a HorizontalPodAutoscaler sets them.
func (l *lifter) replicas(p *piece, spec map[string]any, group []string) {
	if !slices.Contains([]string{"Deployment", "StatefulSet", "ReplicaSet", "ReplicationController", "Rollout"}, p.kind) {
		return
	}
	for _, other := range l.Kept {
		if kind, name := schema.ScaleTarget(other.Fields); kind != p.kind || name != p.named() {
			continue
		}
		if spec["replicas"] != nil {
			delete(spec, "replicas")
			l.warn(p.Position("spec.replicas"), diag.NotImported, "replicas are left out: "+called(other.kind, other.name)+" sets them", "")
		}
		return
	}
	const limits, description = "minimum=0 maximum=1000", "Number of pods"
	if spec["replicas"] == nil {
		spec["replicas"] = l.field(in(group, "replicas"), "integer | "+limits+" description="+quotedMarker(description+"; 1 by default"))
		return
	}
	l.set(spec, "replicas", in(group, "replicas"), whole(limits), description)
}

func (l *lifter) container(c map[string]any, group []string) {
	name, _ := c["name"].(string)
	l.set(c, "image", in(group, "image"), text("minLength=1", nil), "Image of the container "+name)
	l.set(c, "imagePullPolicy", in(group, "imagePullPolicy"), oneOf("Always", "IfNotPresent", "Never"), "When Kubernetes pulls the image")
	resourceNames := map[string]string{"cpu": "CPU", "memory": "Memory"}
	for _, unit := range []string{"cpu", "memory"} {
		good := map[string]*regexp.Regexp{"cpu": cpu(), "memory": size()}[unit]
		limits, requests := Mapping(c, "resources", "limits"), Mapping(c, "resources", "requests")
		if !quantities(good, limits[unit], requests[unit]) {
			continue // both or none: one alone could exceed the other
		}
		request := l.set(
			requests,
			unit,
			in(group, unit+"Request"),
			text("maxLength=20", good),
			resourceNames[unit]+" request of the container "+name,
		)
		limit := l.set(
			limits,
			unit,
			in(group, unit+"Limit"),
			text("maxLength=20", good),
			resourceNames[unit]+" limit of the container "+name,
		)
		if request != "" && limit != "" {
			l.atMost(request, limit, "quantity(%s).compareTo(quantity(%s)) <= 0")
		}
	}
}

// quantities reports whether all values fit.
func quantities(good *regexp.Regexp, written ...any) bool {
	return !slices.ContainsFunc(written, func(value any) bool { return value != nil && !good.MatchString(fmt.Sprint(value)) })
}

// atMost adds a validation rule that one field must not exceed another, if both are
// set.
func (l *lifter) atMost(less, more Expr, rule string) {
	var unless []string
	for _, e := range []Expr{less, more} {
		at := "self"
		for step := range strings.SplitSeq(strings.TrimPrefix(e.path(), "."), ".") {
			at += "." + step
			if guard := "!has(" + at + ")"; !slices.Contains(unless, guard) {
				unless = append(unless, guard)
			}
		}
	}
	l.api.Rules = append(l.api.Rules, scaffold.Rule{
		Rule:    strings.Join(append(unless, fmt.Sprintf(rule, "self"+less.path(), "self"+more.path())), " || "),
		Message: strings.TrimPrefix(less.path(), ".spec.") + " must not exceed " + strings.TrimPrefix(more.path(), ".spec."),
	})
}

func (l *lifter) storage(spec map[string]any, path []string, of, more string) {
	s := text("maxLength=20"+more, size())
	l.set(Mapping(spec, "resources", "requests"), "storage", path, s, "Size of the "+of)
	s = text("maxLength=253 immutable=true", goodName())
	path = append(slices.Clone(path[:len(path)-1]), "storageClassName")
	l.set(spec, "storageClassName", path, s, "Storage class of the "+of)
}

var (
	secretive = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(passw|secret|token|credential|api_?key|private_?key|access_?key)`)
	})
	number = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(0|-?[1-9][0-9]{0,14})$`) })
)

// environment lifts the short literal variables of a container.
func (l *lifter) environment(p *piece, where string, c map[string]any, group []string) {
	for _, variable := range List(c, "env") {
		variable, _ := variable.(map[string]any)
		name, _ := variable["name"].(string)
		value, plain := variable["value"].(string)
		switch {
		case !plain || value == "" || strings.Contains(value, "$("):
		case secretive().MatchString(name):
			l.warn(
				p.Position("kind"),
				diag.ChangedOnImport,
				fmt.Sprintf("%s: the template contains the value of %s in plain text", where, name),
				"put it into a Secret, and write valueFrom: {secretKeyRef: {name: NAME, key: KEY}} in place of value",
			)
		default:
			l.variable(variable, value, in(group, "env", camel(name, "env")), "Environment variable "+name)
		}
	}
}

// variable lifts text that may be a number or a boolean.
func (l *lifter) variable(object map[string]any, value string, path []string, description string) {
	typed := map[string]any{}
	s := sort{typ: "string"}
	switch {
	case number().MatchString(value):
		n, _ := strconv.ParseInt(value, 10, 64)
		typed["value"], s = n, sort{typ: "integer"}
	case value == "true" || value == "false":
		typed["value"], s = value == "true", sort{typ: "boolean"}
	default:
		typed["value"] = value
	}
	e := l.set(typed, "value", path, s, description)
	switch {
	case e == "":
		return
	case s.typ != "string":
		e = Expr("${ " + e.path() + " | tostring }")
		l.remember(e, value)
	}
	object["value"] = e
}

// show sets the printer columns and the status.
func (l *lifter) show(p *scaffold.Project, workloads []*piece) {
	p.API.Columns = scaffold.ColumnsBehind()
	if len(workloads) != 1 || !slices.Contains([]string{"Deployment", "StatefulSet", "ReplicaSet"}, workloads[0].kind) {
		return
	}
	if workloads[0].Fields["apiVersion"] != "apps/v1" {
		return
	}
	child := strings.ToLower(workloads[0].kind)
	p.API.Status = []scaffold.Field{{Name: "readyReplicas", Value: "integer"}}
	p.Status = []scaffold.Field{{Name: "readyReplicas", Value: "${ $children." + child + ".status.readyReplicas // 0 }"}}
	p.API.Columns = scaffold.ColumnsBehind(scaffold.Column{Name: "Ready replicas", Path: ".status.readyReplicas"})
	if Mapping(workloads[0].Fields, "spec")["replicas"] == Expr("${ .spec.replicas }") {
		workloads[0].scaled = true
		p.API.Columns = scaffold.ColumnsBehind(
			scaffold.Column{Name: "Replicas", Path: ".spec.replicas"},
			scaffold.Column{Name: "Ready replicas", Path: ".status.readyReplicas"},
		)
		p.API.Scale = &scaffold.Scale{Spec: ".spec.replicas", Status: ".status.readyReplicas"}
	}
}
