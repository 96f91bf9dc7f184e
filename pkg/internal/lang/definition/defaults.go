package definition

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// defaults sets the default of each field that is not set.
func (c *checker) defaults() {
	spec := &c.op.Spec
	defaultAPI(&spec.API)
	for i := range spec.Children {
		defaultChild(&spec.Children[i])
	}
	for i := range spec.Related {
		r := &spec.Related[i]
		if r.Schedule != "" {
			fill(&r.TimeZone, "UTC")
			continue
		}
		completeKind(r, defaultChild)
		fillPointer(&r.Watch, true)
	}
	if spec.Logic != nil {
		fill(&spec.Logic.ChildChanges, "Needed")
		if spec.Logic.Chart != "" {
			fill(&spec.Logic.Image, HelmImage)
		}
		if hook := spec.Logic.Hook; hook != nil {
			fill(&hook.Path, "/sync")
			fill(&hook.FinalizePath, hook.Path)
			fill(&hook.Version, "v1")
		}
		if spec.Logic.Resources == nil {
			spec.Logic.Resources = &v1alpha1.Resources{
				Requests: map[string]string{"cpu": "10m", "memory": "64Mi"},
				Limits:   map[string]string{"memory": "256Mi"},
			}
		}
	}
	if spec.Finalizer != nil {
		fill(&spec.Finalizer.DeletionOrder, "Parallel")
		fill(&spec.Finalizer.Name, v1alpha1.DefaultFinalizer(c.group(), c.op.Metadata.Name))
	}
	defaultReconcile(&spec.Reconcile)
	c.defaultInstall(&spec.Install)
}

func defaultAPI(api *v1alpha1.API) {
	if e := api.Existing; e != nil {
		group, _, _ := strings.Cut(e.Group, "\x00")
		known, _ := schema.FindBuiltin(apiVersionOf(group, e.Version), e.Kind)
		fill(&e.Plural, cmp.Or(known.Plural, Plural(e.Kind)))
		fill(&e.Scope, known.Scope())
		return
	}
	if api.CRD != nil {
		return
	}
	if api.Kind != "" {
		fill(&api.Plural, Plural(api.Kind))
	}
	fill(&api.Scope, "Namespaced")
	for i := range api.Versions {
		v := &api.Versions[i]
		fillPointer(&v.Served, true)
		fillPointer(&v.Storage, len(api.Versions) == 1)
		if len(v.Columns) == 0 {
			v.Columns = defaultColumns()
		}
	}
}

func defaultColumns() []v1alpha1.Column {
	return []v1alpha1.Column{
		{Name: "Ready", Path: `.status.conditions[?(@.type=="Ready")].status`, Type: "string"},
		{Name: "Age", Path: ".metadata.creationTimestamp", Type: "date"},
	}
}

func defaultChild(child *v1alpha1.Child) {
	if known, ok := schema.FindBuiltin(apiVersionOf(source.SplitAPIVersion(child.APIVersion)), child.Kind); ok {
		fill(&child.Plural, known.Plural)
		fill(&child.Scope, known.Scope())
	}
	fill(&child.OnDelete, "Delete")
	fill(&child.Update, "InPlace")
	defaultGenerated(child)
}

func defaultReconcile(r *v1alpha1.Reconcile) {
	fill(&r.Engine, "auto")
	fillPointer(&r.Shards, 1)
	fillPointer(&r.Concurrency, 4)
	fill(&r.Resync, "30m")
	fill(&r.ResyncPolicy, "Changed")
	fill(&r.Timeout, "5m")
	fillPointer(&r.Retries, 5)
	fillPointer(&r.ForceConflicts, true)
	fillPointer(&r.Diagnose, true)
}

func (c *checker) defaultInstall(in *v1alpha1.Install) {
	fill(&in.Namespace, "argo-events")
	fillPointer(&in.Replicas, 1)
	fill(&in.RuntimeImage, runtimeImage(in.Group, c.op.Spec.Logic))
	fillPointer(&in.UserRoles, c.op.Spec.API.Existing == nil && len(in.WatchNamespaces) == 0)
	fillPointer(&in.AdmissionPolicies, true)
	bus := &in.EventBus
	fill(&bus.Mode, "existing")
	fill(&bus.Name, "default")
	if bus.Mode == "managed" {
		fillPointer(&bus.Replicas, 3)
		fill(&bus.Storage, "1Gi")
	}
	for _, n := range derivedNames(in) {
		fill(n.value, n.of(cmp.Or(in.Group, c.op.Metadata.Name)))
	}
}

// HelmImage is the image that renders charts.
const HelmImage = "alpine/helm:3.17.3"

// RuntimeImage is the image of argoperator's own program.
const RuntimeImage = "python:3.13-slim"

// runtimeImage returns the logic's image if it has Python, so that nodes pull one image
// only. The operators of a group have one in common.
func runtimeImage(group string, logic *v1alpha1.Logic) string {
	if group == "" && logic != nil && logic.Image != "" && len(logic.Command) > 0 &&
		slices.Contains([]string{"python", "python3"}, filepath.Base(logic.Command[0])) {
		return logic.Image
	}
	return RuntimeImage
}

func fill(s *string, value string) { *s = cmp.Or(*s, value) }

func fillPointer[T any](p **T, value T) {
	if *p == nil {
		*p = &value
	}
}
