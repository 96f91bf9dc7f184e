package lint

import (
	"reflect"
	"slices"
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
)

// triggerForms are the forms of texts without which a trigger fails.
var triggerForms = []form{
	withScheme("http.url", "http", "https"),
	withScheme("k8s.source.url.path", "https", "http"),
	withScheme("argoWorkflow.source.url.path", "https", "http"),
	hostOnly("k8s.source.s3.endpoint"),
	hostOnly("argoWorkflow.source.s3.endpoint"),
	withScheme("pulsar.url", "pulsar", "pulsar+ssl", "http", "https"),
	address("kafka.url"),
	address("azureEventHubs.fqdn"),
}

// failingTriggers reports settings that Argo Events accepts, and with which a trigger always fails.
func failingTriggers(i *inspection, _ *eventsv1.Sensor, t argo.Trigger) {
	at := t.Path.Child("template")
	for _, f := range triggerForms {
		computed := slices.ContainsFunc(t.AllParameters(), func(p argo.Parameter) bool {
			return p.Dest == f.field || p.List+"."+p.Dest == f.field
		})
		if !computed {
			steps := strings.Split(f.field, ".")
			f.check(i, at.Child(steps[0], steps[1:]...), textOf(reflect.ValueOf(*t.Template), f.field))
		}
	}
	if w := t.Template.ArgoWorkflow; w != nil {
		for n, arg := range w.Args {
			if flagWithValue().MatchString(arg) {
				flag, value, _ := strings.Cut(arg, " ")
				i.reportHint(at.Child("argoWorkflow", "args").Index(n), "write two arguments: "+flag+" and "+strings.TrimSpace(value),
					"the argo command takes %s for one argument", arg)
			}
		}
	}
	if k := t.Template.K8s; k != nil {
		i.fromConfigMap(at.Child("k8s", "source", "configmap", "key"), k.Source)
	}
	if w := t.Template.ArgoWorkflow; w != nil {
		i.fromConfigMap(at.Child("argoWorkflow", "source", "configmap", "key"), w.Source)
	}
	i.unnamed(t)
}

// fromConfigMap checks the key of the ConfigMap from which a trigger reads its object.
func (i *inspection) fromConfigMap(at *field.Path, source *eventsv1.ArtifactLocation) {
	if source != nil && source.Configmap != nil {
		i.key(at, source.Configmap.Name, source.Configmap.Key)
	}
}

// flagWithValue matches an argument that is a flag and its value.
var flagWithValue = lazily(`^--?[A-Za-z][-\w]* `)

// ofNamed are the operations on an object that exists.
var ofNamed = []string{
	string(eventsv1.Update), string(eventsv1.Patch), string(eventsv1.Delete), string(eventsv1.SubmitFrom), string(eventsv1.Resubmit),
	string(eventsv1.Resume), string(eventsv1.Retry), string(eventsv1.Suspend), string(eventsv1.Terminate), string(eventsv1.Stop),
}

// unnamed reports an object that the operation of a trigger cannot find or create, unless a parameter completes it.
func (i *inspection) unnamed(t argo.Trigger) {
	data, path := t.ObjectBytes()
	var object metav1.PartialObjectMetadata
	if data == nil || yaml.Unmarshal(data, &object) != nil || object.Kind == "" || len(t.Parameters) > 0 {
		return
	}
	operation, live := "", false
	if k := t.Template.K8s; k != nil {
		operation, live = string(k.Operation), k.LiveObject && k.Operation == eventsv1.Update
	} else if w := t.Template.ArgoWorkflow; w != nil {
		operation = string(w.Operation)
		starts := slices.Contains([]string{"workflowtemplate", "cronworkflow"}, strings.ToLower(object.Kind))
		if w.Operation == eventsv1.SubmitFrom && !starts &&
			!slices.ContainsFunc(t.ObjectParameters(), func(p argo.Parameter) bool { return p.Dest == "kind" }) {
			i.reportHint(path.Child("kind"), "write WorkflowTemplate or CronWorkflow", "submit-from does not start a %s", object.Kind)
		}
	}
	named := slices.ContainsFunc(t.ObjectParameters(), func(p argo.Parameter) bool { return argo.Segments(p.Dest)[0] == "metadata" })
	switch at := path.Child("metadata"); {
	case live && object.Name == "": // read before the parameters are applied
		i.reportHint(at, "add metadata.name, or remove liveObject", "liveObject needs the name of the object")
	case live && object.Namespace == "" && object.Kind != "Namespace" && object.Kind != "Node":
		i.reportHint(at, "add metadata.namespace, or remove liveObject", "liveObject needs the namespace of the object")
	case object.Name != "" || named:
	case slices.Contains(ofNamed, operation):
		i.reportHint(at, "add metadata.name", "%s needs the name of the object", operation)
	case object.GenerateName == "":
		i.reportHint(at, "add metadata.generateName", "the object has no name")
	}
}
