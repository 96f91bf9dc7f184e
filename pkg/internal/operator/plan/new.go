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

// A definition becomes a plan in steps. Each takes the result of the step before and adds
// to it, so that nothing is read before it is known.

// declared is what a definition declares, with compiled expressions.
type declared struct {
	Operator  Operator
	Names     v1alpha1.Names
	API       API
	Children  []Child
	Patches   []Child // objects of others of which fields are set
	Related   []Related
	Schedules []Schedule
	Status    Status
	Shared    Shared
	Install   Install

	deletesInReverse bool            // children are deleted one after the other, with their custom resource
	deleteAfter      json.RawMessage // how many seconds after its creation a custom resource is deleted
	childMetadata    json.RawMessage // labels and annotations of the children that logic makes, for the pod
	inputs           json.RawMessage // the parameters of the installation, for the request of the logic
}

// decided adds how the operator runs.
type decided struct {
	declared

	Logic     Logic
	Reconcile Reconcile
}

// configured adds what the pods read, and the events that start a reconcile.
type configured struct {
	decided

	Runtime Runtime
	Events  []Event // in the order of the EventSource's entries

	direct []part // of the Sensor of the direct engine
}

// New plans a definition, and completes the schema of its status. The findings list what
// no engine supports. If one of them is an error, the plan is nil.
func New(d *definition.Definition) (*Plan, diag.List) {
	declared, findings := declare(d)
	if findings.HasErrors() {
		return nil, findings
	}
	choice, refused := chooseEngine(&declared, d)
	p := choice.direct
	if choice.engine != Direct || p == nil {
		p = &configured{decided: decide(declared, d, choice.engine)}
	}
	p.Reconcile.Against = choice.against
	findings = slices.Concat(findings, refused, unsupported(&p.decided, d))
	if findings.HasErrors() {
		return nil, findings
	}
	if p != choice.direct {
		configure(p, d.Operator.Spec)
	}
	sensors := sensors(p)
	p.Runtime.Sensors = namesOf(sensors)
	return &Plan{
		configured: *p,
		Sensors:    sensors,
		Grants:     onceEach(append(grants(p, sensors), heldGrants(&p.decided, d)...)),
		Policies:   policies(&p.decided),
		Monitoring: monitoring.New(p.Shared.Monitoring, watched(p, sensors)),
	}, findings
}

// declare compiles the expressions.
func declare(d *definition.Definition) (declared, diag.List) {
	spec, base := d.Operator.Spec, baseAPI(d)
	c := newCompiler(d, base)
	c.define()
	out := declared{
		Operator: operator(d.Operator.Metadata), Names: spec.Install.Names, Shared: shared(spec), Install: install(spec.Install),
		Children: c.children(), Patches: c.patches(), Related: c.related(), Schedules: c.schedules(), Status: c.status(),
	}
	c.unread(spec.Variables, c.scope.Variables, "spec", "variables")
	if spec.Logic == nil {
		c.unread(spec.Parameters, c.scope.Parameters, "spec", "parameters")
	}
	inferStatus(d, out.Status)
	c.findings = append(c.findings, d.CheckInferred()...)
	if spec.Install.DedicatedWorker {
		out.Names.Worker = out.dedicatedWorker()
	}
	out.API, out.childMetadata = withSchemas(base, d), c.commonForPod(out.Children)
	out.deleteAfter, out.inputs = c.deleteAfter(), c.inputs()
	out.deletesInReverse = spec.Finalizer != nil && spec.Finalizer.DeletionOrder == "Reverse"
	out.chooseNamespaces(d)
	return out, c.findings
}

// decide adds what follows from the engine.
func decide(in declared, d *definition.Definition, engine Engine) decided {
	spec, e := d.Operator.Spec, execution(engine)
	out := decided{declared: in, Logic: logic(d, e), Reconcile: Reconcile{
		Engine: engine, Execution: e,
		Finalizer: finalizer(&in, spec), FinalizerForced: spec.Finalizer != nil,
		Shards:         int(*spec.Reconcile.Shards),
		StateLocation:  stateLocation(&in, d, e),
		ForceConflicts: *spec.Reconcile.ForceConflicts,
		Diagnoses:      *spec.Reconcile.Diagnose && !e.RunsPods && diagnosable(&in),
		Concurrency:    int(*spec.Reconcile.Concurrency),
	}}
	out.Reconcile.Shows = e.Stays && showsIn(spec) && fitsShown(out.Logic)
	out.Shared.Resources = runtimeResources(spec.Install, e)
	if out.Reconcile.StateLocation == InStatus {
		out.API.Versions = withStateField(out.API.Versions)
	}
	return out
}

// finalizer returns the name of the finalizer, empty if the operator needs none.
func finalizer(p *declared, spec v1alpha1.Spec) string {
	switch {
	case spec.Finalizer != nil:
		return spec.Finalizer.Name
	case spec.Logic == nil && (slices.ContainsFunc(p.Patches, p.leavesFields) || slices.ContainsFunc(p.Children, p.needsFinalizer)):
		return v1alpha1.DefaultFinalizer(p.API.Kind.Group, p.Operator.Name)
	}
	return ""
}

// configure computes what the pods and the EventSource need, and the programs of direct.
func configure(p *configured, spec v1alpha1.Spec) {
	p.Runtime, p.Events = runtime(&p.decided, spec), p.inGroup(events(&p.decided))
	if !p.Reconcile.Execution.RunsPods {
		p.direct = directParts(p)
	}
}

// inferStatus completes the schema by the types of the fields of the status that it does
// not declare.
func inferStatus(d *definition.Definition, status Status) {
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
}

func operator(m v1alpha1.Metadata) Operator {
	labels := ownLabels(m.Name)
	maps.Copy(labels, m.Labels)
	return Operator{Name: m.Name, Labels: labels, Annotations: maps.Clone(m.Annotations)}
}

// ownLabels returns the labels of every object of an operator.
func ownLabels(name string) map[string]string {
	return map[string]string{
		"app.kubernetes.io/name":      name,
		"app.kubernetes.io/component": "operator",
		ManagedBy:                     Generator,
	}
}

// digest returns a digest of everything that affects the result of a reconcile.
func digest(p *decided, r Runtime) string {
	parts := []any{r, p.Logic, p.Reconcile.Engine}
	for _, c := range p.Children {
		for _, program := range c.programs() {
			parts = append(parts, program.Source())
		}
		if c.Ready != nil {
			parts = append(parts, c.Ready.Source())
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

// baseAPI returns the kind, without what depends on the schema.
func baseAPI(d *definition.Definition) API {
	a := d.Operator.Spec.API
	out := API{
		Singular: strings.ToLower(a.Kind), ListKind: a.Kind + "List",
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
		out.Kind.Version = d.WorkingVersion()
	}
	if d.StatusProblem() != "" {
		out.Kind.StatusSubresource = false // reported by the definition package
	}
	if a.Existing != nil {
		out.Existing, out.SelectorJQ, out.Decorate = true, selectorJQ(a.Existing), a.Existing.Decorate
	}
	out.HasGeneration = a.Existing == nil || a.Existing.Status
	return out
}

// withSchemas adds what depends on the schema.
func withSchemas(out API, d *definition.Definition) API {
	if !out.Existing && out.CRD == nil {
		out.Versions = versions(d)
	}
	has := func(path ...string) bool { return hasField(fieldsOf(d, out.Kind), append([]string{"status"}, path...)) }
	out.HasConditions, out.HasObservedGeneration = has("conditions"), has("observedGeneration")
	out.NumbersConditions = has("conditions", "observedGeneration")
	return out
}

// fieldsOf returns the fields of the reconciled kind, which are unknown of an existing one
// that Kubernetes does not have.
func fieldsOf(d *definition.Definition, kind Kind) schema.Type {
	if own := d.Schema(d.WorkingVersion()); own != nil {
		return schema.OpenAPI(own)
	}
	builtin, _ := schema.Builtin(kind.APIVersion(), kind.Kind)
	return builtin
}

// hasField reports whether the objects at a path can have a field.
func hasField(t schema.Type, path []string) bool {
	for _, name := range path {
		if t.Kind() == schema.Array {
			t = t.Item()
		}
		var known bool
		if t, known = t.Field(name); !known {
			return false
		}
	}
	return true
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
	return Install{
		UserRoles: *in.UserRoles, TokenHours: rotation(in.TokenRotation), AllowedNamespaces: allowedPattern(in.AllowedNamespaces),
	}
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
		Image: l.Image, Command: slices.Clone(l.Command), Env: slices.Clone(l.Env), Resources: *l.Resources, ResyncAfter: l.ResyncAfter,
		EveryChange: l.ChildChanges == "All", Hook: l.Hook, Chart: l.Chart != "",
	}
	if out.Chart {
		out.Command = chartCommand(d)
	}
	for _, f := range d.Files {
		key := strings.ReplaceAll(f.Path, "/", "__")
		out.Files = append(out.Files, File{Key: key, Path: f.Path, Content: f.Content})
	}
	if e.PodPerStep {
		for _, f := range d.LogicParameters {
			out.Parameters = append(out.Parameters, File{Key: f.Path, Path: f.Path, Content: f.Content})
		}
	}
	return out
}

// chartCommand returns the command that renders a chart. The kinds of the children are
// among the capabilities that the templates see, because the cluster has them.
func chartCommand(d *definition.Definition) []string {
	command := []string{"sh", definition.ChartProgram}
	for _, c := range d.Operator.Spec.Children {
		command = append(command, "--api-versions="+c.APIVersion, "--api-versions="+c.APIVersion+"/"+c.Kind)
	}
	return slices.Compact(command)
}

func runtime(p *decided, spec v1alpha1.Spec) Runtime {
	r := Runtime{
		Operator: p.Operator.Name, Engine: p.Reconcile.Engine, Namespace: p.Shared.Namespace,
		Parent:            parentKind(p.API),
		Children:          []RuntimeKind{},
		WatchNamespaces:   append([]string{}, p.Shared.WatchNamespaces...),
		AllowedNamespaces: p.Install.AllowedNamespaces,
		Finalizer:         p.Reconcile.Finalizer,
		FinalizerForced:   p.Reconcile.FinalizerForced,
		ForceConflicts:    p.Reconcile.ForceConflicts,
		ResyncPolicy:      spec.Reconcile.ResyncPolicy,
		WorkflowTemplate:  p.Names.WorkflowTemplate,
		ArgoServerURL:     strings.TrimSuffix(spec.Install.ArgoServerURL, "/"),
		Parameters:        []string{},
		Status:            json.RawMessage("null"),
		EventSource:       p.Names.EventSource,
		Sensors:           []string{p.Names.Sensor},
		ChildMetadata:     p.childMetadata,
		DeleteAfter:       p.deleteAfter,
		DeletesInReverse:  p.deletesInReverse,
		Inputs:            p.inputs,
	}
	children, _ := ordered(p.Children)
	for _, c := range children {
		kind := runtimeKind(c.Kind)
		kind.Name, kind.OnDelete = c.Name, "Delete"
		kind.Template, kind.Each = c.Object != nil, c.ForEach != nil
		kind.DependsOn, kind.Deciders, kind.Adopt, kind.Never = c.DependsOn, c.Deciders, c.Adopt, c.Update == Never
		kind.Fixed, kind.Secret, kind.Generate = c.podPrograms.fixed, p.ReadsSecrets(c), c.Generate
		kind.Unowned, kind.Held, kind.Chosen = p.unowned(c), p.needsFinalizer(c), c.ChoosesNamespace()
		if c.Kind.Custom() {
			kind.MaxDepth, kind.TooDeep = MaxDepth, tooDeep
		}
		kind.Identity, kind.When, kind.ForEach = c.podPrograms.identity, c.podPrograms.when, c.podPrograms.forEach
		if p.templatesInPod() {
			kind.Object = c.podPrograms.object
			kind.Needs, kind.DecidedBy = runtimeNeeds(c), decidedBy(p.Children, c)
		} else {
			r.SensorTemplates = r.SensorTemplates || kind.Template
		}
		r.ReadsObjects = r.ReadsObjects || len(c.DependsOn) > 0 || p.templatesInPod()
		if p.Reconcile.Execution.RunsPods {
			kind.Unready = unreadyInPod(c)
		}
		if c.Orphan {
			kind.OnDelete, kind.Stays, kind.Policy = "Orphan", !p.deletes(c), c.podPrograms.policy
		}
		r.Children = append(r.Children, kind)
	}
	for _, f := range p.Logic.Parameters {
		r.Parameters = append(r.Parameters, f.Key)
	}
	if p.Status.PodFields != nil {
		r.Status = p.Status.PodFields
	}
	for _, f := range p.Status.Fields {
		if len(p.secretReads(f.Value)) > 0 {
			r.SecretStatus = append(r.SecretStatus, f.Name)
		}
		reads := func(path []string) bool { return len(path) == 0 || ofStatus(path) }
		r.StatusReadsStatus = r.StatusReadsStatus || slices.ContainsFunc(f.Value.Reads(), reads)
	}
	r.Chart = p.Logic.Chart
	r.Token = runtimeToken(p)
	if p.Reconcile.Execution.OneReconcilePod {
		r.Patches = runtimePatches(p)
		r.Related, r.Existing, r.Decorate = runtimeRelated(p), p.API.Existing, p.API.Decorate
		for _, s := range p.Schedules {
			r.Schedules = append(r.Schedules, RuntimeSchedule{s.Name, s.Rule, LongestSchedule})
		}
		r.Parent.Selected = selectorInPod(p)
		if p.Logic.ResyncAfter {
			r.Timer = p.Operator.Name + "-timer"
		}
		if p.EnqueuesRelated() && !p.Reconcile.Execution.Stays {
			names := p.enqueue()
			r.Enqueue = &names
		}
	}
	if p.Reconcile.Execution.Stays {
		configureWorker(&r, p)
	}
	if r.AllowedNamespaces == "" && r.choosesNamespace() {
		r.SystemNamespaces = p.systemPattern()
	}
	r.Digest = digest(p, r)
	r.EmitsEvents = p.emitsEvents() // does not change the result of a reconcile
	return r
}

// configureWorker adds what only a worker needs.
func configureWorker(r *Runtime, p *decided) {
	r.Worker, r.WorkflowTemplate = p.Names.Worker, ""
	r.Concurrency, r.ResyncSeconds = p.Reconcile.Concurrency, int(p.Shared.Resync/time.Second)
	if workers := p.Workers(); len(workers) > 1 {
		r.Workers = workers
	}
	if p.Logic.Image != "" {
		r.Logic = &RuntimeLogic{Seconds: p.Shared.TimeoutSeconds}
		if hook := p.Logic.Hook; hook != nil {
			r.Logic.Port, r.Logic.Path, r.Logic.FinalizePath, r.Logic.Version = hook.Port, hook.Path, hook.FinalizePath, hook.Version
		}
	}
}

func runtimeRelated(p *decided) []RuntimeRelated {
	var out []RuntimeRelated
	for _, r := range p.Related {
		kind := runtimeKind(r.Kind)
		kind.Name, kind.Secret = r.Name, p.API.Kind.secret()
		kind.Chosen = r.ChoosesNamespace() || r.Kind.Namespaced && r.FixedNamespace == "" && p.Install.AllowedNamespaces != ""
		out = append(out, RuntimeRelated{
			RuntimeKind: kind, Rule: r.Rule, FixedNamespace: r.FixedNamespace, Multiple: r.Multiple, Watch: r.Watch, Delete: r.Delete,
		})
	}
	return out
}

// templatesInPod reports whether the pod evaluates the templates.
func (p *decided) templatesInPod() bool {
	return p.Reconcile.Execution.Stays || p.Reconcile.Execution.OneReconcilePod && computedInPod(&p.declared)
}

// computedInPod reports whether only a pod can evaluate the templates: they read objects that
// the Sensor does not receive, make or read Secrets, or call a function that it has not.
func computedInPod(p *declared) bool {
	return len(p.Patches) > 0 || slices.ContainsFunc(p.Children, onlyInPod) || secretsInPod(p)
}

// onlyInPod reports whether a child is computed from live objects, or by a function of pods.
func onlyInPod(c Child) bool {
	return slices.ContainsFunc(c.programs(), func(e *expression.Program) bool {
		return e.UsesRelated() || len(e.ReadsChildren()) > 0 || e.NeedsPod()
	})
}

// programs returns the programs that objects of a child are computed by.
func (c Child) programs() []*expression.Program {
	all := []*expression.Program{c.Object, c.When, c.ForEach}
	return slices.DeleteFunc(all, func(e *expression.Program) bool { return e == nil })
}

func parentKind(a API) RuntimeKind {
	out := runtimeKind(a.Kind)
	for _, one := range []struct {
		field string
		has   bool
	}{
		{"conditions", a.HasConditions},
		{"observedGeneration", a.HasObservedGeneration},
		{"conditions[].observedGeneration", a.NumbersConditions},
	} {
		if a.Kind.StatusSubresource && !one.has {
			out.Lacks = append(out.Lacks, one.field)
		}
	}
	return out
}

func runtimeKind(k Kind) RuntimeKind {
	return RuntimeKind{APIVersion: k.APIVersion(), Kind: k.Kind, Plural: k.Plural, Namespaced: k.Namespaced, Status: k.StatusSubresource}
}
