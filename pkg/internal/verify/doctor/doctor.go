// Package doctor checks whether a cluster is ready for an operator, and suggests
// fixes.
//
// The rule of this package: it only reads. It queries the cluster through kubectl,
// with the user's configuration and permissions.
package doctor

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Ask runs kubectl with arguments and input and returns its output; said is its
// error output.
type Ask func(ctx context.Context, input []byte, arguments ...string) (out []byte, said string, err error)

// Requirements are an operator's requirements on a cluster.
type Requirements struct {
	Operator    string
	Namespace   string
	EventBus    string // name of the EventBus
	IncludesBus bool   // the operator includes its EventBus
	Manifests   []byte // the stream that is applied

	Objects     []Identity // of the manifests
	Group, Kind string     // of the custom resources
	Plural      string     // their resource
	Children    []string   // their names in the definition
	ManagedBy   string     // the value of the label of children
}

// State is the result of a check.
type State string

// The states.
const (
	OK      State = "ok"
	Warning State = "warning" // unknown, or a problem later
	Error   State = "error"   // the operator would not work
)

// Check is the result of one check.
type Check struct {
	Name    string `json:"name"`
	State   State  `json:"state"`
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"`
}

// checks lists all checks in order. To add one, write a function and add a line.
var checks = []func(*visit) Check{server, kinds, events, workflows, configuration, namespace, bus, twins, leftovers, apply}

// Examine checks a cluster. It stops early if the API server does not answer.
func Examine(ctx context.Context, ask Ask, needs Requirements) []Check {
	v := &visit{ctx: ctx, ask: ask, needs: needs}
	var out []Check
	for _, check := range checks {
		c := check(v)
		if c.Name == "" {
			continue
		}
		out = append(out, c)
		if c.Name == "API server" && c.State == Error {
			break
		}
	}
	return out
}

type visit struct {
	ctx   context.Context
	ask   Ask
	needs Requirements
	names []string // of the existing kinds
	alone bool     // the namespace does not exist
	seen  *list    // the Deployments, once they have been listed
}

// get decodes JSON from kubectl; said is the reason if there is none.
func (v *visit) get(into any, arguments ...string) (said string) {
	out, said, err := v.ask(v.ctx, nil, append(arguments, "-o", "json")...)
	if err != nil {
		return firstLine(said, err)
	}
	if err := json.Unmarshal(out, into); err != nil {
		return "kubectl did not print JSON: " + err.Error()
	}
	return ""
}

func firstLine(said string, err error) string {
	for line := range strings.Lines(said) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "WARNING") && !strings.HasPrefix(line, "Warning") {
			return line
		}
	}
	return err.Error()
}

// notFound reports whether the object does not exist. kubectl prints the reason of the API
// server's answer, and exits with 1 for every error.
func notFound(said string) bool {
	return strings.Contains(said, "("+string(metav1.StatusReasonNotFound)+")")
}

func server(v *visit) Check {
	var version struct {
		ServerVersion struct {
			GitVersion string `json:"gitVersion"`
		} `json:"serverVersion"`
	}
	if said := v.get(&version, "version"); said != "" || version.ServerVersion.GitVersion == "" {
		return Check{
			"API server",
			Error,
			strings.TrimSpace("does not respond: " + said),
			"check the kubeconfig and its context: kubectl cluster-info",
		}
	}
	return Check{"API server", OK, version.ServerVersion.GitVersion, ""}
}

// ofArgo are the kinds that an operator uses, with their project.
var ofArgo = map[string]string{
	"eventbus.argoproj.io": "Argo Events", "eventsources.argoproj.io": "Argo Events", "sensors.argoproj.io": "Argo Events",
	"workflows.argoproj.io": "Argo Workflows", "workflowtemplates.argoproj.io": "Argo Workflows",
	"cronworkflows.argoproj.io":       "Argo Workflows",
	"workflowtaskresults.argoproj.io": "Argo Workflows",
}

type list struct {
	Items []struct {
		Metadata struct {
			Name      string            `json:"name"`
			Namespace string            `json:"namespace"`
			Labels    map[string]string `json:"labels"`
		} `json:"metadata"`
		Spec struct {
			Template struct {
				Spec struct {
					Containers []struct {
						Image string   `json:"image"`
						Args  []string `json:"args"`
					} `json:"containers"`
				} `json:"spec"`
			} `json:"template"`
		} `json:"spec"`
		Status struct {
			AvailableReplicas int `json:"availableReplicas"`
		} `json:"status"`
		Data map[string]string `json:"data"`
	} `json:"items"`
}

func kinds(v *visit) Check {
	var found list
	if said := v.get(&found, "get", "customresourcedefinitions"); said != "" {
		return Check{"Argo's kinds", Warning, "cannot be read: " + said, "run doctor with permission to list customresourcedefinitions"}
	}
	for _, item := range found.Items {
		v.names = append(v.names, item.Metadata.Name)
	}
	missing := map[string][]string{}
	for name, whose := range ofArgo {
		if !slices.Contains(v.names, name) {
			missing[whose] = append(missing[whose], strings.TrimSuffix(name, ".argoproj.io"))
		}
	}
	if len(missing) == 0 {
		return Check{"Argo's kinds", OK, "Argo Events and Argo Workflows are installed", ""}
	}
	var lacks []string
	for _, whose := range []string{"Argo Events", "Argo Workflows"} {
		if names := missing[whose]; len(names) > 0 {
			slices.Sort(names)
			lacks = append(lacks, whose+" ("+strings.Join(names, ", ")+")")
		}
	}
	return Check{
		"Argo's kinds",
		Error,
		"missing: " + strings.Join(lacks, "; "),
		"install them: https://argoproj.github.io/argo-events/installation and " +
			"https://argo-workflows.readthedocs.io/en/latest/installation",
	}
}

// release matches the version in the tag of an image.
var release = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`:v?(\d+\.\d+)\.\d+[^:]*$`) })

// controller finds a controller by its image and checks its version.
func (v *visit) controller(name, image string, known []string) (Check, []string) {
	if v.seen == nil {
		var found list
		if said := v.get(&found, "get", "deployments", "--all-namespaces"); said != "" {
			return Check{name, Warning, "cannot be read: " + said, "run doctor with permission to list deployments"}, nil
		}
		v.seen = &found
	}
	for _, item := range v.seen.Items {
		for _, c := range item.Spec.Template.Spec.Containers {
			base := c.Image[strings.LastIndex(c.Image, "/")+1:]
			if !strings.HasPrefix(base, image+":") && !strings.HasPrefix(base, image+"@") || item.Metadata.Labels["owner-name"] != "" {
				continue
			}
			where := item.Metadata.Namespace + "/" + item.Metadata.Name
			version := release().FindStringSubmatch(c.Image)
			switch {
			case item.Status.AvailableReplicas == 0:
				return Check{
					name,
					Error,
					where + " is not available",
					"kubectl describe deployment -n " + item.Metadata.Namespace + " " + item.Metadata.Name,
				}, c.Args
			case version == nil:
				return Check{
					name,
					Warning,
					where + " runs an image without a version: " + c.Image,
					"use an image with a release version",
				}, c.Args
			case !slices.Contains(known, version[1]):
				return Check{
					name,
					Warning,
					where + " is version " + version[1] + "; argoperator is tested with " + strings.Join(known, ", "),
					"try it on a test cluster first",
				}, c.Args
			}
			return Check{name, OK, where + ", version " + version[1], ""}, c.Args
		}
	}
	return Check{
		name,
		Warning,
		"no Deployment found; it may run in another way",
		"check that it runs: the operator does nothing without it",
	}, nil
}

// The supported versions of Argo, the newest first.
var (
	ArgoEvents    = []string{"1.9"}
	ArgoWorkflows = []string{"4.0", "3.7"}
)

func events(v *visit) Check {
	c, arguments := v.controller("Argo Events", "argo-events", ArgoEvents)
	return limited(c, arguments, v.needs.Namespace)
}

func workflows(v *visit) Check {
	c, arguments := v.controller("Argo Workflows", "workflow-controller", ArgoWorkflows)
	return limited(c, arguments, v.needs.Namespace)
}

// limited is the check of a controller that watches a single namespace.
func limited(c Check, arguments []string, namespace string) Check {
	const flag, which = "--namespaced", "--managed-namespace"
	if c.State == Error || !slices.Contains(arguments, flag) {
		return c
	}
	if i := slices.Index(arguments, which); i >= 0 && i+1 < len(arguments) && arguments[i+1] == namespace ||
		slices.Contains(arguments, which+"="+namespace) {
		return c
	}
	return Check{
		c.Name,
		Error,
		c.Message + ", watches another namespace only",
		"install the operator there with -n, or start the controller without " + flag,
	}
}

// instance matches the setting that restricts a controller to labelled Workflows.
var instance = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\s*instanceID:\s*["']?([\w.-]+)`) })

// configuration checks the settings of the workflow controller that affect the
// operator's Workflows.
func configuration(v *visit) Check {
	var found list
	const name = "Workflow controller"
	const controller = "metadata.name=workflow-controller-configmap"
	if said := v.get(&found, "get", "configmaps", "--all-namespaces", "--field-selector", controller); said != "" {
		return Check{name, Warning, "its configuration cannot be read: " + said, ""}
	}
	for _, item := range found.Items {
		text := item.Data["config"]
		for key, value := range item.Data {
			text += "\n" + key + ": " + value
		}
		if id := instance().FindStringSubmatch(text); id != nil {
			return Check{
				name,
				Error,
				"runs Workflows of instanceID " + id[1] + " only",
				"run a controller without instanceID for this namespace",
			}
		}
		if strings.Contains(text, "templateReferencing") {
			return Check{
				name,
				Error,
				"runs only Workflows of WorkflowTemplates (templateReferencing), and those of the resync are not",
				"run a controller without templateReferencing for this namespace",
			}
		}
	}
	return Check{name, OK, "runs any Workflow", ""}
}

func namespace(v *visit) Check {
	var found struct {
		Status struct {
			Phase string `json:"phase"`
		} `json:"status"`
	}
	name := "Namespace " + v.needs.Namespace
	said := v.get(&found, "get", "namespace", v.needs.Namespace)
	switch {
	case notFound(said):
		v.alone = true
		return Check{name, Error, "does not exist", "kubectl create namespace " + v.needs.Namespace}
	case said != "":
		return Check{name, Warning, "cannot be read: " + said, ""}
	case found.Status.Phase != "Active":
		return Check{name, Error, "is " + found.Status.Phase, "wait until it is deleted, or install into another namespace with -n"}
	}
	return Check{name, OK, "exists; the pods of the operator meet every Pod Security Standard", ""}
}

func bus(v *visit) Check {
	if v.needs.IncludesBus || v.alone {
		return Check{}
	}
	name := "EventBus " + v.needs.EventBus
	if len(v.names) > 0 && !slices.Contains(v.names, "eventbus.argoproj.io") {
		return Check{}
	}
	var found struct {
		Spec struct {
			NATS      map[string]any `json:"nats"`
			JetStream *struct {
				MaxPayload string `json:"maxPayload"`
			} `json:"jetstream"`
			JetStreamExotic *struct {
				AccessSecret map[string]any `json:"accessSecret"`
			} `json:"jetstreamExotic"`
			Kafka *struct {
				SASL map[string]any `json:"sasl"`
				TLS  map[string]any `json:"tls"`
			} `json:"kafka"`
		} `json:"spec"`
		Status struct {
			Conditions []struct {
				Type, Status, Message string
			} `json:"conditions"`
		} `json:"status"`
	}
	said := v.get(&found, "get", "eventbus", "-n", v.needs.Namespace, v.needs.EventBus)
	switch {
	case notFound(said):
		return Check{
			name,
			Error,
			"does not exist: the operator would receive no events",
			"create one, or set install: {eventBus: {mode: managed}} in the definition",
		}
	case said != "":
		return Check{name, Warning, "cannot be read: " + said, ""}
	case found.Spec.NATS != nil:
		return Check{name, Error, "uses NATS Streaming, which loses events", "use jetstream"}
	}
	for _, c := range found.Status.Conditions {
		if c.Status != "True" {
			return Check{
				name,
				Error,
				fmt.Sprintf("%s is %s: %s", c.Type, c.Status, c.Message),
				"kubectl describe eventbus -n " + v.needs.Namespace + " " + v.needs.EventBus,
			}
		}
	}
	if len(found.Status.Conditions) == 0 {
		return Check{name, Error, "has no status: no controller reconciled it", "check that the controller of Argo Events runs"}
	}
	exotic, kafka := found.Spec.JetStreamExotic, found.Spec.Kafka
	if exotic != nil && exotic.AccessSecret == nil || kafka != nil && kafka.SASL == nil && kafka.TLS == nil {
		return Check{
			name, Warning, "is ready, but without authentication: everyone who can connect to it can read and forge events",
			"configure authentication (jetstreamExotic.accessSecret; kafka.sasl or kafka.tls), and allow connections only from the pods " +
				"of Argo Events",
		}
	}
	if js := found.Spec.JetStream; js != nil && !roomy(js.MaxPayload) {
		return Check{
			name, Warning, "is ready, but accepts events of at most " + cmp.Or(js.MaxPayload, "1MB") + ": an update event contains the " +
				"object twice, in base64, " +
				"and one that is too large delays all events of its kind by seconds",
			"set jetstream.maxPayload to 4MB, which is enough for every object",
		}
	}
	return Check{name, OK, "is ready", ""}
}

// size matches the maximum message size in the configuration of NATS.
var size = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\d+)(?i:(k|m|g)b?)?$`) })

// roomy reports whether a bus accepts an update event of the largest object: the
// API server stores up to 1.5 MiB. 0 means no limit.
func roomy(most string) bool {
	parts := size().FindStringSubmatch(strings.TrimSpace(most))
	if parts == nil {
		return false
	}
	n, err := strconv.Atoi(parts[1])
	shift := map[string]int{"k": 10, "m": 20, "g": 30}[strings.ToLower(parts[2])]
	return err == nil && (n == 0 || n<<shift >= 4<<20)
}

// twins reports duplicate Deployments of an EventSource or Sensor. The controller
// of Argo Events creates two if it reconciles a new object twice before its cache
// has the first; both stay and handle every event twice.
func twins(v *visit) Check {
	if v.seen == nil {
		return Check{}
	}
	first := map[[2]string]string{} // by the kind's label and the owner
	for _, item := range v.seen.Items {
		if item.Metadata.Namespace != v.needs.Namespace {
			continue
		}
		for label, kind := range map[string]string{"eventsource-name": "EventSource", "sensor-name": "Sensor"} {
			owner := item.Metadata.Labels[label]
			if owner == "" || item.Metadata.Labels["owner-name"] != owner {
				continue // of another owner
			}
			id, name := [2]string{label, owner}, item.Metadata.Name
			if one := first[id]; one != "" {
				return Check{
					kind + " " + owner, Warning, "has two Deployments, " + one + " and " + name + ": each event is handled twice",
					"kubectl delete deployment -n " + v.needs.Namespace + " " + name,
				}
			}
			first[id] = name
		}
	}
	return Check{}
}

// apply runs a server-side dry run of the manifests with the user's permissions.
func apply(v *visit) Check {
	const name = "kubectl apply"
	if v.alone {
		return Check{}
	}
	_, said, err := v.ask(v.ctx, v.needs.Manifests, "apply", "--dry-run=server", "-f", "-")
	if err == nil {
		return Check{name, OK, "would succeed with your permissions", ""}
	}
	var lines []string
	for line := range strings.Lines(said) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(strings.ToLower(line), "warning") &&
			!slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	if len(lines) > 5 {
		lines = append(lines[:5], fmt.Sprintf("and %d more", len(lines)-5))
	}
	fix := "fix what the API server rejects"
	if strings.Contains(said, "orbidden") {
		fix = "let a user with these permissions apply it: RBAC prevents you from granting permissions that you do not have"
	}
	return Check{name, Error, strings.Join(append(lines, ""), "\n") + err.Error(), fix}
}
