package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan/monitoring"
)

// New plans a definition. The findings list what no engine supports. If one of them is
// an error, the plan is nil.
func New(d *definition.Definition) (*Plan, diag.List) {
	o := d.Operator
	p := &Plan{
		Names:     o.Spec.Install.Names,
		API:       api(d),
		Reconcile: reconcile(o.Spec),
		Shared:    shared(o.Spec),
		Install:   install(o.Spec.Install),
	}
	c := newCompiler(d, p.API)
	p.Children, p.Patches, p.Related, p.Status = c.children(), c.patches(), c.related(), c.status()
	if inferStatus(d, p.Status) {
		p.API = api(d)
	}
	findings := c.findings
	if findings.HasErrors() {
		return nil, findings
	}
	engine, why, refused := chooseEngine(p, d)
	p.Reconcile.Engine, p.Reconcile.EngineReasons = engine, why
	p.Reconcile.Execution = execution(engine)
	p.Logic = logic(d, p.Reconcile.Execution)
	p.Reconcile.Diagnoses = *o.Spec.Reconcile.Diagnose && !p.Reconcile.Execution.RunsPods
	p.Reconcile.StateLocation = stateLocation(p, d)
	if p.Reconcile.Finalizer == "" && o.Spec.Logic == nil && (len(p.Patches) > 0 || slices.ContainsFunc(p.Children, p.needsFinalizer)) {
		p.Reconcile.Finalizer = v1alpha1.DefaultFinalizer(p.API.Kind.Group, o.Metadata.Name)
	}
	findings = slices.Concat(findings, refused, ungrouped(p, d), unsupported(p, d))
	if !p.Reconcile.Execution.RunsPods { // a pod checks who owns the object, and so does the program of listed objects
		for _, child := range p.Children {
			if !p.listed(child) {
				findings = append(findings, c.shared[child.Name]...)
			}
		}
	}
	if findings.HasErrors() {
		return nil, findings
	}
	if p.Reconcile.StateLocation == InStatus {
		addStateToSchema(p)
	}
	p.Runtime = runtime(p, o)
	p.Runtime.ChildMetadata = c.common
	p.Operator = operator(p, o)
	p.Runtime.Digest, p.Runtime.EmitsEvents = p.Operator.Digest, emitsEvents(p)
	p.Events = p.inGroup(events(p))
	p.Sensors = sensors(p)
	sizePods(p)
	p.Grants = append(grants(p), heldGrants(p, d)...)
	p.Policies = policies(p)
	p.Monitoring = monitoring.New(p.Shared.Monitoring, watched(p))
	return p, findings
}

// inferStatus completes the schema by the types of the fields of the status that it does
// not declare. It reports whether there are any.
func inferStatus(d *definition.Definition, status Status) bool {
	for _, path := range d.InferredStatus {
		i := slices.IndexFunc(status.Fields, func(f StatusField) bool { return f.Name == path[0] })
		if i < 0 {
			continue // its expression has an error
		}
		t := status.Fields[i].Value.Type()
		for _, name := range path[1:] {
			t, _ = t.Field(name)
		}
		d.InferStatus(path, *schema.Props(t))
	}
	return len(d.InferredStatus) > 0
}

func operator(p *Plan, o v1alpha1.Operator) Operator {
	labels := ownLabels(o.Metadata.Name)
	maps.Copy(labels, o.Metadata.Labels)
	return Operator{
		Name:        o.Metadata.Name,
		Digest:      digest(p),
		Labels:      labels,
		Annotations: maps.Clone(o.Metadata.Annotations),
	}
}

// ownLabels returns the labels of every object of an operator.
func ownLabels(name string) map[string]string {
	return map[string]string{
		"app.kubernetes.io/name":       name,
		"app.kubernetes.io/component":  "operator",
		"app.kubernetes.io/managed-by": "argoperator",
	}
}

// digest returns a digest of everything that affects the result of a reconcile.
func digest(p *Plan) string {
	parts := []any{p.Runtime, p.Logic, p.Reconcile.Engine}
	for _, c := range p.Children {
		for _, program := range []*expression.Program{c.Object, c.When, c.ForEach, c.Ready} {
			if program != nil {
				parts = append(parts, program.Source())
			}
		}
	}
	if p.Reconcile.Execution.ComputesStatus {
		for _, f := range p.Status.Fields {
			parts = append(parts, f.Name, f.Value.Source())
		}
	}
	return hash(parts...)
}

// hash returns a digest of plain data, 16 characters long.
func hash(parts ...any) string {
	sum := sha256.Sum256(encode(parts))
	return hex.EncodeToString(sum[:8])
}

func api(d *definition.Definition) API {
	a := d.Operator.Spec.API
	out := API{
		Singular: a.Singular, ListKind: a.ListKind,
		ShortNames: a.ShortNames, Categories: a.Categories,
		Kind: Kind{
			Group: a.Group, Kind: a.Kind, Plural: a.Plural,
			Namespaced: a.Scope != "Cluster", StatusSubresource: true,
		},
	}
	switch {
	case a.Existing != nil:
		out.Kind = Kind{
			Group: a.Existing.Group, Version: a.Existing.Version, Kind: a.Existing.Kind, Plural: a.Existing.Plural,
			Namespaced: a.Existing.Scope != "Cluster", StatusSubresource: a.Existing.Status,
		}
		out.Singular = strings.ToLower(a.Existing.Kind)
	case d.CRD != nil:
		out.Kind, out.Singular, out.CRD = givenCRD(d)
	default:
		out.Versions = versions(d)
		out.Kind.Version = d.WorkingVersion()
	}
	if d.StatusProblem() != "" {
		out.Kind.StatusSubresource = false // reported by the definition package
	}
	if a.Existing != nil {
		out.Existing, out.SelectorJQ, out.Decorate = true, selectorJQ(a.Existing), a.Existing.Decorate
	}
	out.HasGeneration = a.Existing == nil || a.Existing.Status
	out.HasConditions, out.HasObservedGeneration = statusHas(d, "conditions"), statusHas(d, "observedGeneration")
	return out
}

// statusHas reports whether the status has a field. It returns true if the schema of
// the kind is unknown.
func statusHas(d *definition.Definition, field string) bool {
	schema := d.Schema(d.WorkingVersion())
	if schema == nil {
		return true
	}
	status, ok := schema.Properties["status"]
	if !ok {
		return schema.XPreserveUnknownFields != nil && *schema.XPreserveUnknownFields
	}
	_, has := status.Properties[field]
	return has || status.XPreserveUnknownFields != nil && *status.XPreserveUnknownFields || status.AdditionalProperties != nil
}

func givenCRD(d *definition.Definition) (Kind, string, json.RawMessage) {
	crd := d.CRD
	kind := Kind{
		Group: crd.Spec.Group, Version: d.WorkingVersion(), Kind: crd.Spec.Names.Kind,
		Plural: crd.Spec.Names.Plural, Namespaced: crd.Spec.Scope != "Cluster",
	}
	for _, v := range crd.Spec.Versions {
		if v.Name == kind.Version {
			kind.StatusSubresource = v.Subresources != nil && v.Subresources.Status != nil
		}
	}
	return kind, strings.ToLower(crd.Spec.Names.Kind), encode(crd)
}

func encode(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("plan: plain data does not encode: %v", err)) // unreachable
	}
	return data
}

func versions(d *definition.Definition) []Version {
	var out []Version
	for _, v := range d.Operator.Spec.API.Versions {
		out = append(out, Version{
			Name: v.Name, Served: *v.Served, Storage: *v.Storage,
			Deprecated: v.Deprecated, DeprecationWarning: v.DeprecationWarning,
			Schema: encode(d.Schemas[v.Name]), Columns: v.Columns, Scale: v.Scale, SelectableFields: v.SelectableFields,
		})
	}
	return out
}

func reconcile(s v1alpha1.Spec) Reconcile {
	out := Reconcile{
		Shards:         int(*s.Reconcile.Shards),
		ForceConflicts: *s.Reconcile.ForceConflicts,
	}
	if s.Finalizer != nil {
		out.Finalizer, out.FinalizerForced = s.Finalizer.Name, true
	}
	return out
}

// duration parses a duration that the definition package has validated.
func duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		panic(fmt.Sprintf("plan: %q accepted as a duration: %v", text, err)) // unreachable
	}
	return d
}

// schedule returns the cron fields of an interval that divides an hour or a day.
func schedule(every time.Duration) string {
	switch minutes := int(every / time.Minute); {
	case minutes == 1:
		return "* * * * *"
	case minutes < 60:
		return fmt.Sprintf("*/%d * * * *", minutes)
	case minutes == 60:
		return "0 * * * *"
	case minutes < 24*60:
		return fmt.Sprintf("0 */%d * * *", minutes/60)
	default:
		return "0 0 * * *"
	}
}

func install(in v1alpha1.Install) Install {
	return Install{UserRoles: *in.UserRoles, AllowedNamespaces: allowedPattern(in.AllowedNamespaces)}
}

func rotation(text string) int {
	if text == "" {
		return 0
	}
	return int(duration(text) / time.Hour)
}

func logic(d *definition.Definition, e Execution) Logic {
	l := d.Operator.Spec.Logic
	if l == nil {
		return Logic{}
	}
	out := Logic{
		Image: l.Image, Command: slices.Clone(l.Command), Env: slices.Clone(l.Env), Resources: *l.Resources, ResyncAfter: l.ResyncAfter, EveryChange: l.ChildChanges == "All",
	}
	for _, f := range d.Files {
		key := strings.ReplaceAll(f.Path, "/", "__")
		out.Files = append(out.Files, File{Key: key, Path: f.Path, Content: f.Content})
	}
	if e.PodPerStep {
		for _, f := range d.Parameters {
			out.Parameters = append(out.Parameters, File{Key: f.Path, Path: f.Path, Content: f.Content})
		}
	}
	return out
}

func runtime(p *Plan, o v1alpha1.Operator) Runtime {
	r := Runtime{
		Operator: o.Metadata.Name, Engine: p.Reconcile.Engine, Namespace: p.Shared.Namespace,
		Parent:            runtimeKind(p.API.Kind),
		Children:          []RuntimeKind{},
		WatchNamespaces:   append([]string{}, p.Shared.WatchNamespaces...),
		AllowedNamespaces: p.Install.AllowedNamespaces,
		Finalizer:         p.Reconcile.Finalizer,
		ForceConflicts:    *o.Spec.Reconcile.ForceConflicts,
		ResyncPolicy:      o.Spec.Reconcile.ResyncPolicy,
		WorkflowTemplate:  p.Names.WorkflowTemplate,
		ArgoServerURL:     strings.TrimSuffix(o.Spec.Install.ArgoServerURL, "/"),
		Parameters:        []string{},
		Status:            json.RawMessage("null"),
		EventSource:       p.Names.EventSource,
		Sensors:           []string{p.Names.Sensor},
	}
	children, _ := ordered(p.Children)
	for _, c := range children {
		kind := runtimeKind(c.Kind)
		kind.Name, kind.OnDelete = c.Name, "Delete"
		kind.Template, kind.Each = c.Object != nil, c.ForEach != nil
		kind.DependsOn, kind.Adopt, kind.Never = c.DependsOn, c.Adopt, c.Update == Never
		kind.Expected = kind.Never && c.Object != nil && c.When == nil && c.ForEach == nil
		kind.Fixed = c.podPrograms.fixed
		kind.Unowned = unowned(p, c)
		kind.Identity, kind.IdentityForEach = c.podPrograms.identity, c.podPrograms.forEach
		if templatesInPod(p) {
			kind.Object, kind.When, kind.ForEach, kind.Needs = c.podPrograms.object, c.podPrograms.when, c.podPrograms.forEach, runtimeNeeds(
				c,
			)
		} else {
			r.SensorTemplates = r.SensorTemplates || kind.Template
		}
		r.ReadsObjects = r.ReadsObjects || len(c.DependsOn) > 0 || templatesInPod(p)
		if p.Reconcile.Execution.RunsPods {
			kind.Unready = unreadyInPod(c)
		}
		if c.Orphan {
			kind.OnDelete = "Orphan"
		}
		r.Children = append(r.Children, kind)
	}
	for _, f := range p.Logic.Parameters {
		r.Parameters = append(r.Parameters, f.Key)
	}
	if p.Status.PodFields != nil {
		r.Status = p.Status.PodFields
	}
	r.Token = runtimeToken(p)
	if p.Reconcile.Execution.OneReconcilePod {
		r.Patches = runtimePatches(p)
		r.Related, r.Existing, r.Decorate = runtimeRelated(p), p.API.Existing, p.API.Decorate
		r.Parent.Selected = selectorInPod(p)
		if p.Logic.ResyncAfter {
			r.Timer = o.Metadata.Name + "-timer"
		}
	}
	return r
}

func runtimeRelated(p *Plan) []RuntimeRelated {
	var out []RuntimeRelated
	for _, r := range p.Related {
		kind := runtimeKind(r.Kind)
		kind.Name = r.Name
		out = append(out, RuntimeRelated{RuntimeKind: kind, Rule: r.Rule, Multiple: r.Multiple, Watch: r.Watch, Delete: r.Delete})
	}
	return out
}

// templatesInPod reports whether the pod evaluates the templates. It does if they read
// objects that the Sensor does not receive, or if a child is a Secret.
func templatesInPod(p *Plan) bool {
	return p.Reconcile.Execution.OneReconcilePod && (len(p.Patches) > 0 || slices.ContainsFunc(p.Children, readsObjects) || secretsInPod(p))
}

// readsObjects reports whether a child is computed from live objects.
func readsObjects(c Child) bool {
	return slices.ContainsFunc([]*expression.Program{c.Object, c.When, c.ForEach}, func(e *expression.Program) bool {
		return e != nil && (e.UsesRelated() || len(e.ReadsChildren()) > 0)
	})
}

func runtimeKind(k Kind) RuntimeKind {
	return RuntimeKind{APIVersion: k.APIVersion(), Kind: k.Kind, Plural: k.Plural, Namespaced: k.Namespaced, Status: k.StatusSubresource}
}
