package selfcheck

import (
	"testing"

	sensortriggers "github.com/argoproj/argo-events/pkg/sensors/triggers"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// TestObjectsAcceptsVariants runs the checks on other valid forms of the fixture.
func TestObjectsAcceptsVariants(t *testing.T) {
	for _, v := range []struct {
		name, reason string
		do           func(*fixture)
	}{
		{"an existing bus", "none is emitted", func(f *fixture) { f.bus = nil }},
		{"an existing kind", "no CustomResourceDefinition is emitted", func(f *fixture) { f.crd = nil }},
		{"two replicas with a lease", "they need an annotation and a permission", addLease},
		{"a finalizer", "the pod patches the custom resource", func(f *fixture) {
			f.config["finalizer"] = "cache.example.com/clean"
			addVerb(f, "workflow", "patch")
		}},
		{"orphaned children", "the pod does not delete them", func(f *fixture) {
			f.config["children"].([]any)[0].(map[string]any)["onDelete"] = "Orphan"
			f.clusterRoles["workflow"].Rules[2].Verbs = []string{"get", "list", "create", "patch"}
		}},
		{"one watched namespace", "the operator has Roles instead of ClusterRoles", watchOneNamespace},
		{"the steps engine", "each step has a resource template or a script", useStepsEngine},
		{"Events in a pod", "the pod needs the permission", emitEvents},
		{"children from templates", "the resync triggers the Sensor", useTemplates},
		{"a separate executor", "its account reports the results", addExecutor},
	} {
		t.Run(v.name, func(t *testing.T) {
			f := newFixture()
			v.do(f)
			problems, err := Objects(f.objects())
			if err != nil {
				t.Fatal(err)
			}
			if len(problems) > 0 {
				t.Errorf("%s:%s", v.reason, formatProblems(problems))
			}
		})
	}
}

func addLease(f *fixture) {
	lease := rule("coordination.k8s.io", "leases", "get", "create", "update")
	f.sensor.Spec.Replicas, f.sensor.Annotations = ptr.To[int32](2), map[string]string{argo.LeaderElection: "k8s"}
	f.roles["sensor"].Rules = append(f.roles["sensor"].Rules, lease)
}

func watchOneNamespace(f *fixture) {
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
		f.extra = append(f.extra,
			&rbacv1.Role{TypeMeta: rbac("Role"), ObjectMeta: m, Rules: role.Rules},
			&rbacv1.RoleBinding{
				TypeMeta: rbac("RoleBinding"), ObjectMeta: m, Subjects: f.clusterRoleBindings[name].Subjects,
				RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
			})
		f.clusterRoles[name], f.clusterRoleBindings[name] = nil, nil
	}
}

func useStepsEngine(f *fixture) {
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

func addExecutor(f *fixture) {
	f.template.Spec.Executor = &wfv1.ExecutorConfig{ServiceAccountName: "memcached-executor"}
	results := f.roles["workflow"].Rules[:1]
	f.roles["workflow"].Rules = f.roles["workflow"].Rules[1:]
	f.addAccount("executor", nil, results)
	f.extra = append(f.extra, f.accounts["executor"], f.roles["executor"], f.roleBindings["executor"])
}

// TestGuessedPlural compares the guess with the function with which a Sensor
// guesses a resource.
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
