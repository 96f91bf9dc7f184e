package check

import (
	"testing"

	sensortriggers "github.com/argoproj/argo-events/pkg/sensors/triggers"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"github.com/argoperator/argoperator/pkg/internal/argo"
	"github.com/argoperator/argoperator/pkg/internal/schema"
)

// Other shapes in which nothing is wrong either.
func TestObjectsFindsNothingWrongWithVariants(t *testing.T) {
	for _, v := range []struct {
		name, reason string
		do           func(*fixture)
	}{
		{"a bus that exists", "none is emitted", func(f *fixture) { f.bus = nil }},
		{"an existing kind", "no CustomResourceDefinition is emitted", func(f *fixture) { f.crd = nil }},
		{"two replicas with a lease", "annotation and permission", leased},
		{"a finalizer", "patch on the custom resource", func(f *fixture) {
			f.config["finalizer"] = "cache.example.com/clean"
			grantToo(f, "workflow", "patch")
		}},
		{"children that stay", "nobody deletes them", func(f *fixture) {
			f.config["children"].([]any)[0].(map[string]any)["onDelete"] = "Orphan"
			f.clusterRoles["workflow"].Rules[2].Verbs = []string{"get", "list", "create", "patch"}
		}},
		{"one watched namespace", "Roles instead of ClusterRoles", watching},
		{"the steps engine", "a resource template and a script for each step", stepping},
		{"the old form of a mutex", "Workflows 3.5 knows no other", func(f *fixture) {
			s := f.template.Spec.Synchronization
			s.Mutex, s.Mutexes = s.Mutexes[0], nil
		}},
		{"Events in a pod", "who may write them", tellingAloud},
		{"children from templates", "who asks the Sensor, and what it sends", templated},
		{"an executor of its own", "it reports the outcome instead of the pod's account", executing},
	} {
		t.Run(v.name, func(t *testing.T) {
			f := newFixture()
			v.do(f)
			problems, err := Objects(f.objects())
			if err != nil {
				t.Fatal(err)
			}
			if len(problems) > 0 {
				t.Errorf("%s:%s", v.reason, lines(problems))
			}
		})
	}
}

func leased(f *fixture) {
	lease := rule("coordination.k8s.io", "leases", "get", "create", "update")
	f.sensor.Spec.Replicas, f.sensor.Annotations = ptr.To[int32](2), map[string]string{argo.LeaderElection: "k8s"}
	f.roles["sensor"].Rules = append(f.roles["sensor"].Rules, lease)
}

func watching(f *fixture) {
	f.config["watchNamespaces"] = []any{"team-a"}
	for name, e := range f.source.Spec.Resource {
		e.Namespace = "team-a"
		f.source.Spec.Resource[name] = e
	}
	for name, role := range f.clusterRoles {
		if name == "view" {
			continue
		}
		m := role.ObjectMeta
		m.Namespace = "team-a"
		f.more = append(f.more,
			&rbacv1.Role{TypeMeta: rbac("Role"), ObjectMeta: m, Rules: role.Rules},
			&rbacv1.RoleBinding{
				TypeMeta: rbac("RoleBinding"), ObjectMeta: m, Subjects: f.bindings[name].Subjects,
				RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
			})
		f.clusterRoles[name], f.bindings[name] = nil, nil
	}
}

func stepping(f *fixture) {
	script := func(command string) wfv1.Template {
		c := goodContainer(command)
		return wfv1.Template{Name: command, Container: &c, Volumes: goodVolumes()}
	}
	call := func(name string, arguments ...wfv1.Parameter) wfv1.ParallelSteps {
		return wfv1.ParallelSteps{Steps: []wfv1.WorkflowStep{{Name: name, Template: name, Arguments: wfv1.Arguments{Parameters: arguments}}}}
	}
	own := script("steps-set-owner")
	own.Outputs.Parameters = []wfv1.Parameter{{Name: "manifest", ValueFrom: &wfv1.ValueFrom{Path: "/workspace/manifest"}}}
	deploy := wfv1.Template{
		Name: "deploy", Inputs: wfv1.Inputs{Parameters: []wfv1.Parameter{{Name: "manifest"}}},
		Resource: &wfv1.ResourceTemplate{Action: "apply", Manifest: "{{inputs.parameters.manifest}}", Flags: []string{"--server-side"}},
	}
	f.template.Spec.Templates[0] = wfv1.Template{Name: "reconcile", Steps: []wfv1.ParallelSteps{
		call("steps-read"), call("steps-set-owner"),
		call("deploy", wfv1.Parameter{Name: "manifest", Value: wfv1.AnyStringPtr("{{steps.steps-set-owner.outputs.parameters.manifest}}")}),
		call("steps-status"),
	}}
	for i := range f.template.Spec.Templates {
		if f.template.Spec.Templates[i].Container != nil {
			f.template.Spec.Templates[i].PodSpecPatch = f.template.Spec.PodSpecPatch
		}
	}
	added := []wfv1.Template{script("steps-read"), own, script("steps-status")}
	for i := range added {
		added[i].PodSpecPatch = f.template.Spec.PodSpecPatch
	}
	f.template.Spec.PodSpecPatch = "" // it would add a wait container to the resource template
	f.template.Spec.Templates = append(append(f.template.Spec.Templates, added...), deploy)
	f.clusterRoles["workflow"].Rules[2].Verbs = []string{"get", "list", "create", "patch"}
}

func executing(f *fixture) {
	f.template.Spec.Executor = &wfv1.ExecutorConfig{ServiceAccountName: "memcached-executor"}
	results := f.roles["workflow"].Rules[:1]
	f.roles["workflow"].Rules = f.roles["workflow"].Rules[1:]
	f.account("executor", nil, results)
	f.more = append(f.more, f.accounts["executor"], f.roles["executor"], f.own["executor"])
}

// TestGuessedPlural holds the guess to the code by which a Sensor calls a resource.
func TestGuessedPlural(t *testing.T) {
	for _, kind := range []string{
		"Memcached", "Redis", "Endpoints", "Prometheus", "DNS", "CNAME", "HTTPS", "DMZ", "TLSY", "Y", "Data", "Schema", "Quiz", "Status",
		"EventBus", "Policy", "POLICY", "Gateway", "Mesh", "MESH", "Batch", "Box", "Knife", "KNIFE", "Leaf", "LEAF", "Shelf", "Monarch", "Myth",
	} {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": kind}}
		if got, want := schema.GuessedPlural(kind), sensortriggers.GetGroupVersionResource(o).Resource; got != want {
			t.Errorf("GuessedPlural(%q) = %q, a Sensor calls %q", kind, got, want)
		}
	}
}
