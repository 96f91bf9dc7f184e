package childcheck

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// The kinds that others refer to by name.
var (
	account     = metav1.GroupKind{Kind: "ServiceAccount"}
	claim       = metav1.GroupKind{Kind: "PersistentVolumeClaim"}
	clusterRole = metav1.GroupKind{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}
	configMap   = metav1.GroupKind{Kind: "ConfigMap"}
	namespace   = metav1.GroupKind{Kind: "Namespace"}
	policy      = metav1.GroupKind{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicy"}
	priority    = metav1.GroupKind{Group: "scheduling.k8s.io", Kind: "PriorityClass"}
	role        = metav1.GroupKind{Group: "rbac.authorization.k8s.io", Kind: "Role"}
	secret      = metav1.GroupKind{Kind: "Secret"}
	service     = metav1.GroupKind{Kind: "Service"}
	storage     = metav1.GroupKind{Group: "storage.k8s.io", Kind: "StorageClass"}
)

// referenceTo is where an object names another one: a field of each mapping at a path, in which *
// is every item of a list.
type referenceTo struct {
	kind     metav1.GroupKind
	at, name string
	keys     string // the path of the mappings below that name keys of the data; "-" is the mapping itself
}

// The references of objects by their kinds, of every object, of a pod's spec, and of a container.
var (
	ofObjects = map[string][]referenceTo{
		"/PersistentVolumeClaim": {{storage, "spec", "storageClassName", ""}},
		"/ServiceAccount":        {{secret, "imagePullSecrets/*", "name", ""}},
		"admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding": {{policy, "spec", "policyName", ""}},
		"apps/StatefulSet": {
			{service, "spec", "serviceName", ""}, {storage, "spec/volumeClaimTemplates/*/spec", "storageClassName", ""},
		},
		"networking.k8s.io/Ingress": {
			{secret, "spec/tls/*", "secretName", ""},
			{service, "spec/defaultBackend/service", "name", ""},
			{service, "spec/rules/*/http/paths/*/backend/service", "name", ""},
		},
		"rbac.authorization.k8s.io/ClusterRoleBinding": {{clusterRole, "roleRef", "name", ""}, {account, "subjects/*", "name", ""}},
		"rbac.authorization.k8s.io/RoleBinding": {
			{role, "roleRef", "name", ""}, {clusterRole, "roleRef", "name", ""}, {account, "subjects/*", "name", ""},
		},
	}
	ofAll  = []referenceTo{{namespace, "metadata", "namespace", ""}}
	ofPods = []referenceTo{
		{account, "", "serviceAccountName", ""},
		{priority, "", "priorityClassName", ""},
		{secret, "imagePullSecrets/*", "name", ""},
		{claim, "volumes/*/persistentVolumeClaim", "claimName", ""},
		{configMap, "volumes/*/configMap", "name", "items/*"},
		{configMap, "volumes/*/projected/sources/*/configMap", "name", "items/*"},
		{secret, "volumes/*/secret", "secretName", "items/*"},
		{secret, "volumes/*/projected/sources/*/secret", "name", "items/*"},
	}
	ofContainers = []referenceTo{
		{configMap, "env/*/valueFrom/configMapKeyRef", "name", "-"},
		{configMap, "envFrom/*/configMapRef", "name", ""},
		{secret, "env/*/valueFrom/secretKeyRef", "name", "-"},
		{secret, "envFrom/*/secretRef", "name", ""},
	}
)

// reference is a name of an object in another one.
type reference struct {
	to     metav1.GroupKind
	at     []string // of the name
	name   string
	within any        // the namespace of the object that it names
	keys   [][]string // the places of the keys
}

// referencesOf returns the references of an object.
func referencesOf(m member) []reference {
	var out []reference
	add := func(value any, at []string, table []referenceTo) {
		for _, r := range table {
			for _, place := range mappings(value, at, strings.Split(r.at, "/")) {
				if one, is := m.reference(r, place); is {
					out = append(out, one)
				}
			}
		}
	}
	add(m.object, nil, ofObjects[m.kind.Group+"/"+m.kind.Kind])
	add(m.object, nil, ofAll)
	if at, makes := podAt(m); makes {
		pod := append(at, "spec")
		add(schema.ValueAt(m.object, pod...), pod, ofPods)
		for _, list := range containerLists {
			for _, place := range mappings(schema.ValueAt(m.object, pod...), pod, []string{list, "*"}) {
				add(schema.ValueAt(m.object, place...), place, ofContainers)
			}
		}
	}
	return out
}

// reference returns the reference in a mapping of an object; false if it has none, or one that may be
// to nothing.
func (m member) reference(r referenceTo, at []string) (reference, bool) {
	holder, _ := schema.ValueAt(m.object, at...).(map[string]any)
	name, _ := holder[r.name].(string)
	kind, several := holder["kind"]
	if name == "" || holder["optional"] == true || several && kind != r.kind.Kind {
		return reference{}, false
	}
	out := reference{to: r.kind, at: append(slices.Clip(at), r.name), name: name, within: holder["namespace"]}
	if out.within == nil {
		out.within = schema.ValueAt(m.object, "metadata", "namespace")
	}
	switch r.keys {
	case "":
	case "-":
		out.keys = [][]string{append(slices.Clip(at), "key")}
	default:
		for _, item := range mappings(holder, at, strings.Split(r.keys, "/")) {
			out.keys = append(out.keys, append(item, "key"))
		}
	}
	return out, true
}

// mappings returns the places of the mappings at a path below a value, which is at a place itself.
func mappings(value any, at, path []string) [][]string {
	return addMappings(nil, value, append(make([]string, 0, len(at)+len(path)), at...), path)
}

// addMappings appends copies of the places: it writes over at.
func addMappings(out [][]string, value any, at, path []string) [][]string {
	for i, step := range path {
		if step == "" {
			break
		}
		if step == "*" {
			list, _ := value.([]any)
			for n, item := range list {
				out = addMappings(out, item, append(at, strconv.Itoa(n)), path[i+1:])
			}
			return out
		}
		value, at = schema.ValueAt(value, step), append(at, step)
	}
	if _, is := value.(map[string]any); is {
		out = append(out, slices.Clone(at))
	}
	return out
}

// mismatch is what an object names and another one lacks.
type mismatch struct {
	at            []string
	message, hint string
}

// unmatchedReferences warns of names of objects, of keys of their data and of ports that no child has,
// although one nearly does. Users and other controllers make objects, too: so it reports only what has
// the name of the custom resource, and differs from that of a child.
func (f *family) unmatchedReferences(child int) diag.List {
	found := map[string]bool{}
	missing := map[string]mismatch{}
	for _, cr := range f.having(child) {
		all := append(f.all(cr), member{-1, f.p.API.Kind, cr.served})
		for _, made := range f.objects(child, cr) {
			for place, bad := range f.compared(made, all, cr) {
				if bad == nil {
					found[place] = true
				} else if _, known := missing[place]; !known {
					missing[place] = *bad
				}
			}
		}
	}
	maps.DeleteFunc(missing, func(place string, _ mismatch) bool { return found[place] })
	places := map[mismatchOf]int{}
	for _, bad := range missing {
		places[bad.of()]++
	}
	var findings diag.List
	for _, place := range slices.Sorted(maps.Keys(missing)) {
		bad := missing[place]
		if more := places[bad.of()]; more > 0 {
			places[bad.of()] = 0
			findings.Warn(f.at(child, bad.at...), diag.UnmatchedChild, bad.message+diag.Places(more-1), bad.hint)
		}
	}
	return findings
}

// mismatchOf identifies mismatches that are the same at several places.
type mismatchOf struct{ message, hint string }

func (m mismatch) of() mismatchOf { return mismatchOf{m.message, m.hint} }

// compared returns for each place of an object that refers to another one the mismatch there; nil where there is none.
func (f *family) compared(made member, all []member, cr customResource) map[string]*mismatch {
	out := map[string]*mismatch{}
	put := func(at []string, bad *mismatch) { out[strings.Join(at, "/")] = bad }
	for _, r := range referencesOf(made) {
		target, bad := f.named(r, made, all, cr)
		put(r.at, bad)
		for _, key := range r.keys {
			put(key, f.unknownKey(key, made, target))
		}
		if r.to == service && target != nil {
			for _, port := range []string{"name", "number"} {
				at := slices.Concat(r.at[:len(r.at)-1], []string{"port", port})
				put(at, f.unknownPort(at, made, *target))
			}
		}
	}
	for _, at := range targetPorts(made) {
		put(at, f.unselectedPort(at, made, all))
	}
	for _, at := range probedPorts(made) {
		put(at, f.unprobedPort(at, made))
	}
	return out
}

// named returns the object that a reference names, or the mismatch of the name.
func (f *family) named(r reference, made member, all []member, cr customResource) (*member, *mismatch) {
	possible := f.possible(r, all)
	for _, m := range possible {
		if schema.ValueAt(m.object, "metadata", "name") == r.name {
			return m, nil
		}
	}
	near := slices.IndexFunc(possible, func(m *member) bool {
		name, _ := schema.ValueAt(m.object, "metadata", "name").(string)
		return m.child >= 0 && f.almost(r, name, f.sharedName(r, made.child, m.child, cr))
	})
	if near < 0 || claimed(r, all) {
		return nil, nil
	}
	of := f.declared(possible[near].child)
	text, _ := schema.ValueAt(of.Template, "metadata", "name").(string)
	hint := "write the name of child " + of.Name
	if of.ForEach == "" {
		hint = "write " + r.at[len(r.at)-1] + ": " + source.Scalar(text, true, 0)
	}
	return nil, &mismatch{r.at, fmt.Sprintf("no child is a %s of this name: child %s has another one", r.to.Kind, of.Name), hint}
}

// possible returns the objects that a reference can name.
func (f *family) possible(r reference, all []member) []*member {
	var out []*member
	for i, m := range all {
		in := schema.ValueAt(m.object, "metadata", "namespace")
		if (metav1.GroupKind{Group: m.kind.Group, Kind: m.kind.Kind}) == r.to && (in == nil || in == r.within) {
			out = append(out, &all[i])
		}
	}
	return out
}

// almost reports whether a reference is probably to an object of another name, where shared is what both names contain.
// Users and other controllers often make Secrets and ConfigMaps of a custom resource, but hardly its Services, accounts,
// roles or claims.
func (f *family) almost(r reference, name, shared string) bool {
	if shared == "" {
		return false
	}
	if strings.Contains(r.name, shared) && strings.Contains(name, shared) && r.to != secret && r.to != configMap && !f.othersMake() {
		return true
	}
	a, b := strings.Replace(r.name, shared, "", 1), strings.Replace(name, shared, "", 1)
	if (a == r.name) != (b == name) {
		return false
	}
	short, long := a, b
	if len(short) > len(long) {
		short, long = long, short
	}
	const least = 3 // letters that two names have in common not by chance
	rest, begins := strings.CutPrefix(long, short)
	if begins && a != r.name && len(short) == 0 {
		return strings.Trim(rest, "-.") == rest // a letter too many, rather than a word
	}
	return begins && len(short) >= least && !strings.HasPrefix(rest, "-") || diag.Nearest(a, []string{b}, diag.FoldKey) != ""
}

// othersMake reports whether controllers other than Kubernetes' own may make objects of a child.
func (f *family) othersMake() bool {
	return slices.ContainsFunc(f.runs, func(r *run) bool {
		if r == nil {
			return true
		}
		_, builtin := schema.Builtin(r.child.Kind.APIVersion(), r.child.Kind.Kind)
		return !builtin
	})
}

// claimed reports whether a reference is to a claim that a StatefulSet makes.
func claimed(r reference, all []member) bool {
	return r.to == claim && slices.ContainsFunc(all, func(m member) bool {
		templates, _ := schema.ValueAt(m.object, "spec", "volumeClaimTemplates").([]any)
		name := schema.ValueAt(m.object, "metadata", "name")
		return slices.ContainsFunc(templates, func(t any) bool {
			return strings.HasPrefix(r.name, fmt.Sprintf("%v-%v-", schema.ValueAt(t, "metadata", "name"), name))
		})
	})
}

// sharedName returns what the name in a reference has in common with that of a child: the name of the custom resource,
// or the value of a field from which both are made. It returns "" if users or other objects choose more of the reference.
func (f *family) sharedName(r reference, from, to int, cr customResource) string {
	shared, _ := schema.ValueAt(cr.served, "metadata", "name").(string)
	fields, known := f.chosen(from, r.at)
	if known && len(fields) == 0 {
		return shared
	}
	others, _ := f.chosen(to, []string{"metadata", "name"})
	if !known || len(fields) > 1 || !slices.ContainsFunc(others, func(o []string) bool { return slices.Equal(o, fields[0]) }) {
		return ""
	}
	shared, _ = schema.ValueAt(cr.served, fields[0]...).(string)
	if shared == r.name {
		return "" // the field is a name by itself
	}
	return shared
}

// chosen returns the fields of the custom resource that a name is made from, beside its name and namespace; false if
// other objects or an item of a list have a part in it.
func (f *family) chosen(child int, at []string) (fields [][]string, known bool) {
	r := f.runs[child]
	if r == nil {
		return nil, false
	}
	for _, part := range r.child.Object.Parts() {
		if !schema.Overlap(part.Path, at) {
			continue
		}
		if len(part.Path) != len(at) {
			return nil, false // an expression is all of what contains the name
		}
		for _, o := range part.AllOrigins() {
			switch field := strings.Join(o.Path, "."); {
			case o.Root != ".":
				return nil, false
			case field != "metadata.name" && field != "metadata.namespace":
				fields = append(fields, o.Path)
			}
		}
	}
	return fields, true
}

// constant returns a value that the template of an object's child writes; nil if it is computed.
func (f *family) constant(m member, at []string) any {
	if m.child < 0 || f.runs[m.child].computes(at) || schema.IsComputed(schema.ValueAt(f.declared(m.child).Template, at...)) {
		return nil
	}
	return schema.ValueAt(m.object, at...)
}

// computes reports whether an expression is a value of the template, or one that contains it.
func (t *run) computes(at []string) bool {
	return slices.ContainsFunc(t.child.Object.Parts(), func(p expression.Part) bool {
		return len(p.Path) <= len(at) && schema.Overlap(p.Path, at)
	})
}

// unknownKey returns the mismatch of a key of the data of a Secret or a ConfigMap; nil if it is not known that the
// object lacks the key.
func (f *family) unknownKey(at []string, made member, target *member) *mismatch {
	key, _ := f.constant(made, at).(string)
	if key == "" || target == nil || target.child < 0 || f.filledByOthers(target.child) {
		return nil
	}
	var keys []string
	for _, field := range []string{"data", "stringData", "binaryData"} {
		data, _ := target.object[field].(map[string]any)
		keys = slices.AppendSeq(keys, maps.Keys(data))
	}
	keys = slices.AppendSeq(keys, maps.Keys(f.declared(target.child).Generate))
	if slices.Contains(keys, key) {
		return nil
	}
	slices.Sort(keys)
	of := f.declared(target.child)
	return &mismatch{
		at, fmt.Sprintf("the %s of child %s has no key %s%s", of.Kind, of.Name, key, butHas(keys)),
		proposed("key", key, keys, fmt.Sprintf("add the key %s to the template of child %s", key, of.Name)),
	}
}

// filledByOthers reports whether a Secret or a ConfigMap may have more keys than its template: those of an expression, of
// an object that is adopted, or of a controller that its annotations or its type ask for them.
func (f *family) filledByOthers(child int) bool {
	template := f.declared(child).Template
	for _, field := range []string{"data", "stringData", "binaryData"} {
		if _, computed := template[field].(string); computed {
			return true
		}
	}
	kind := template["type"]
	return f.runs[child].child.Adopt || schema.IsComputed(kind) || kind == string(corev1.SecretTypeServiceAccountToken) ||
		schema.ValueAt(template, "metadata", "annotations") != nil
}

// butHas lists the names that exist in the place of a missing one.
func butHas(names []string) string {
	const most = 5
	switch {
	case len(names) == 0:
		return ""
	case len(names) > most:
		names = append(slices.Clone(names[:most]), "…")
	}
	return ", but " + strings.Join(names, ", ")
}

// proposed returns a hint with the one name that there is, or the nearest.
func proposed(field, wrong string, names []string, otherwise string) string {
	near := diag.Nearest(wrong, names, diag.FoldKey)
	if len(names) == 1 {
		near = cmp.Or(near, names[0])
	}
	switch {
	case near == "":
		return otherwise
	case field == "number":
		return "write number: " + near
	}
	return "write " + field + ": " + source.Scalar(near, true, 0)
}
