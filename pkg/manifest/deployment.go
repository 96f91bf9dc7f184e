package manifest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// eventsPort of the worker takes the events of the Sensor. Its metrics and its health are on
// the port of all pods of Argo Events, metricsPort.
var eventsPort = intstr.FromInt32(v1alpha1.EventsPort)

// Sizes of the volumes of a worker. The first two are in memory: a program that fills them
// gets an error, and its pod is not evicted.
const (
	workspaceSize = "64Mi"
	logicTmpSize  = "2Gi" // of the logic, for example the build cache of a compiler
)

// tokenSeconds is the lifetime of the worker's token, which the kubelet renews.
const tokenSeconds int64 = 3600

// workers returns the Deployments that reconcile. Two pods of one never work at a time: a new
// one starts after the old one has ended, and the pods share a Lease.
func workers(p *plan.Plan) []Object {
	names := p.Workers()
	if names == nil {
		return nil
	}
	var out []Object
	files := configMaps(p)
	for _, name := range names {
		pod := workerPod(p, name)
		out = append(out, &appsv1.Deployment{
			TypeMeta:   metav1.TypeMeta{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "Deployment"},
			ObjectMeta: meta(p, name),
			Spec: appsv1.DeploymentSpec{
				Replicas: &p.Shared.Replicas,
				Selector: &metav1.LabelSelector{MatchLabels: workerLabels(name)},
				Strategy: appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{
						Labels: podLabels(p, workerLabels(name)), Annotations: workerAnnotations(p, digestOf(files, pod)),
					},
					Spec: pod,
				},
			},
		})
	}
	return out
}

func workerAnnotations(p *plan.Plan, programs string) map[string]string {
	out := map[string]string{programsAnnotation: programs}
	maps.Copy(out, p.Shared.PodTemplate.Annotations)
	return out
}

// programsAnnotation of a pod has a digest of its ConfigMaps, so that a change replaces it, and
// no other worker of its group.
const programsAnnotation = "argoperator.dev/programs"

func digestOf(objects []Object, pod corev1.PodSpec) string {
	sum := sha256.New()
	for _, o := range objects {
		if !slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool { return v.ConfigMap != nil && v.ConfigMap.Name == o.GetName() }) {
			continue
		}
		data := o.(*corev1.ConfigMap).Data
		for _, key := range slices.Sorted(maps.Keys(data)) {
			fmt.Fprintf(sum, "%q %q\n", key, data[key])
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// workerLabel tells the pods of a worker from those of Argo Events.
const workerLabel = "argoperator.dev/worker"

// IsWorker reports whether a Deployment is a worker.
func IsWorker(d *appsv1.Deployment) bool {
	return d.Labels[plan.ManagedBy] == plan.Generator && d.Spec.Template.Labels[workerLabel] == d.Name
}

// workerLabels select the pods of a worker.
func workerLabels(name string) map[string]string { return map[string]string{workerLabel: name} }

func workerServices(p *plan.Plan) []Object {
	var out []Object
	for _, name := range p.Workers() {
		out = append(out, &corev1.Service{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
			ObjectMeta: meta(p, name),
			Spec: corev1.ServiceSpec{
				Selector: workerLabels(name),
				Ports:    []corev1.ServicePort{{Name: "events", Port: eventsPort.IntVal, TargetPort: intstr.FromString("events")}},
			},
		})
	}
	return out
}

// workerPod runs argoperator's own program and, if there is logic, the user's program next
// to it. Only the first has a token.
func workerPod(p *plan.Plan, name string) corev1.PodSpec {
	no, grace, more := false, p.Shared.TimeoutSeconds+30, p.Shared.PodTemplate.Spec
	pod := corev1.PodSpec{
		NodeSelector:                  more.NodeSelector,
		Tolerations:                   more.Tolerations,
		Affinity:                      more.Affinity,
		ImagePullSecrets:              more.ImagePullSecrets,
		PriorityClassName:             more.PriorityClassName,
		ServiceAccountName:            p.ServiceAccount(p.AccountOf(name)),
		AutomountServiceAccountToken:  &no,
		EnableServiceLinks:            &no,
		SecurityContext:               podSecurity(),
		TerminationGracePeriodSeconds: &grace,
		Containers:                    []corev1.Container{workerContainer(p, name)},
		Volumes: []corev1.Volume{
			configMapVolume("runtime", p.Names.RuntimeConfigMap, nil), configMapVolume("worker", p.Names.Worker, nil),
			configMapVolume("operators", operatorsConfigMap(p, name), nil),
			emptyDir("tmp"), credentialsVolume(),
		},
	}
	for _, o := range p.RunBy(name) {
		if !hasLogic(o) {
			continue
		}
		called, part := calledContainer, o.Part()
		if o.Logic.Hook != nil {
			called = hookContainer
			pod.SecurityContext.Sysctls = lowPorts(o.Logic.Hook.Port)
		}
		pod.Containers = append(pod.Containers, called(o))
		pod.Volumes = append(pod.Volumes, configMapVolume("logic"+part, o.Names.ConfigMap+part, o.Logic.Files),
			limited(emptyDir("logic-tmp"+part), "", logicTmpSize),
			limited(emptyDir("workspace"+part), corev1.StorageMediumMemory, workspaceSize))
	}
	if slices.ContainsFunc(p.RunBy(name), hasLogic) {
		pod.Volumes = append(pod.Volumes, limited(emptyDir("state"), corev1.StorageMediumMemory, workspaceSize))
	}
	return pod
}

func limited(v corev1.Volume, medium corev1.StorageMedium, size string) corev1.Volume {
	most := resource.MustParse(size)
	v.EmptyDir.Medium, v.EmptyDir.SizeLimit = medium, &most
	return v
}

// credentialsVolume has what Kubernetes mounts into every pod by default, for the container
// that mounts it only.
func credentialsVolume() corev1.Volume {
	seconds := tokenSeconds
	return corev1.Volume{Name: "credentials", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
		Sources: []corev1.VolumeProjection{
			{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token", ExpirationSeconds: &seconds}},
			{ConfigMap: &corev1.ConfigMapProjection{
				LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"},
				Items:                []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}},
			}},
		},
	}}}
}

func workerContainer(p *plan.Plan, name string) corev1.Container {
	c := *scriptContainer(p, "runtime", workerScript)
	c.Command[2] = WorkerDir + "/" + workerScript
	c.VolumeMounts = append(c.VolumeMounts, readOnly("worker", WorkerDir), readOnly("operators", operatorsDir))
	var configs []string
	for _, o := range p.RunBy(name) {
		configs = append(configs, operatorsDir+"/"+configFile(o))
	}
	c.Env = []corev1.EnvVar{
		{Name: "ARGOPERATOR_CONFIG", Value: strings.Join(configs, ":")},
		{Name: "PYTHONPATH", Value: RuntimeDir},
		fromField("POD_NAME", "metadata.name"), fromField("POD_IP", "status.podIP"),
	}
	if len(p.Runtime.Workers) > 0 {
		c.Env = append(c.Env, corev1.EnvVar{Name: "ARGOPERATOR_WORKER", Value: name})
	}
	c.Env = append(c.Env, shownEnv(p)...)
	c.Ports = []corev1.ContainerPort{
		{Name: "events", ContainerPort: eventsPort.IntVal}, {Name: "metrics", ContainerPort: metricsPort.IntVal},
	}
	c.ReadinessProbe, c.LivenessProbe = probe("/readyz", 2, 3), probe("/healthz", 20, 3)
	c.VolumeMounts = append(c.VolumeMounts, readOnly("credentials", credentialsDir))
	if !slices.ContainsFunc(p.RunBy(name), hasLogic) {
		return c
	}
	var workspaces []string
	for _, o := range p.RunBy(name) {
		if hasLogic(o) {
			workspaces = append(workspaces, workspaceDir+o.Part())
			c.VolumeMounts = append(c.VolumeMounts, mount("workspace"+o.Part(), workspaceDir+o.Part()))
		}
	}
	c.Env = append(c.Env, corev1.EnvVar{Name: "ARGOPERATOR_WORKSPACE", Value: strings.Join(workspaces, ":")},
		corev1.EnvVar{Name: "ARGOPERATOR_STATE", Value: stateDir})
	c.VolumeMounts = append(c.VolumeMounts, mount("state", stateDir))
	return c
}

func fromField(name, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}}
}

func probe(path string, seconds, failures int32) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler:  corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: intstr.FromString("metrics")}},
		PeriodSeconds: seconds, FailureThreshold: failures, TimeoutSeconds: 5,
	}
}

// perCall starts the user's program for each call of the worker: templates/runtime/calls.py
// says what the lines of the pipes mean. open has the process of each call, which waits for
// its program. A program gets a session of its own, so that all that it has started ends with
// it. What left the session ends when no call is open, if this shell is the first process of
// its container. SIGTERM ends nothing, because the worker needs the container until it ends
// itself. Some shells support only integers for sleep.
const perCall = `cd /
set -f
trap : TERM
until test -p ` + workspaceDir + `/calls && test -p ` + workspaceDir + `/ends; do sleep 0.1 2> /dev/null || sleep 1; done
exec 3<> ` + workspaceDir + `/calls 4<> ` + workspaceDir + `/ends
echo "
started" >&4
session=$(command -v setsid)
open=" "
while :; do
  read -r what name key <&3 || continue
  process=${open##*" $name:"}
  process=${process%% *}
  case $what in
  run)
    echo "
$name runs" >&4
    (
      program=
      trap 'kill -KILL "-$program" "$program" 2> /dev/null' TERM
      dir=` + workspaceDir + `/$name
      export ARGOPERATOR_KEY="$key" ARGOPERATOR_REQUEST="$dir/request.json" ARGOPERATOR_RESPONSE="$dir/response.json"
      export TMPDIR="` + temporaryDir + `/$name"
      mkdir "$TMPDIR"
      cd ` + logicDir + `
      (exec $session "$@" > "$dir/output" 2>&1 < /dev/null 3>&- 4>&-) &
      program=$!
      wait "$program"
      code=$?
      kill -KILL "-$program" 2> /dev/null
      wait "$program" 2> /dev/null
      rm -rf "$TMPDIR"
      test ! -s "$dir/output" || { echo "--- $key"; tail -c 65536 "$dir/output"; }
      echo "
$name $code" >&4
      echo "
ended $name" >&3
    ) &
    open="$open$name:$! "
    ;;
  kill) case $open in *" $name:"*) kill -TERM "$process" ;; esac ;;
  ended)
    case $open in *" $name:"*)
      wait "$process"
      open="${open%%" $name:"*} ${open#*" $name:$process "}"
      test "$open$$" != " 1" || kill -KILL -1 2> /dev/null
      ;;
    esac
    ;;
  begin) for call in $open; do kill -TERM "${call#*:}"; done ;;
  stop) exit ;;
  esac
done
`

// calledContainer runs the user's program for each call, with volumes of its own.
func calledContainer(p *plan.Plan) corev1.Container {
	c := logicContainer(p, "logic"+p.Part())
	c.Env = userEnv(p)
	c.Command = append([]string{"sh", "-c", perCall, "logic"}, p.Logic.Command...)
	c.VolumeMounts = slices.DeleteFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == "no-credentials" })
	for i := range c.VolumeMounts {
		c.VolumeMounts[i].Name += p.Part()
	}
	return c
}

// hookContainer runs the user's server. It shares no volume with the worker: a call is a request.
func hookContainer(p *plan.Plan) corev1.Container {
	c := calledContainer(p)
	c.Command = slices.Clone(p.Logic.Command)
	c.Ports = []corev1.ContainerPort{{Name: hookPort, ContainerPort: p.Logic.Hook.Port}}
	c.VolumeMounts = slices.DeleteFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == "workspace" })
	return c
}

// hookPort is the name of the port of a hook.
const hookPort = "hook"

// lowPorts returns what lets a server listen on a port below 1024 without rights.
func lowPorts(port int32) []corev1.Sysctl {
	if port >= 1024 {
		return nil
	}
	return []corev1.Sysctl{{Name: "net.ipv4.ip_unprivileged_port_start", Value: strconv.Itoa(int(port))}}
}

// postTimeout in seconds: a worker answers at once.
const postTimeout = 10

// post sends the event of each dependency to the worker, which puts it into its queue.
func post(p *plan.Plan, t plan.Trigger) eventsv1.Trigger {
	http := &eventsv1.HTTPTrigger{
		URL:    fmt.Sprintf("http://%s.%s.svc:%d/%s", t.Worker, p.Shared.Namespace, eventsPort.IntVal, t.For),
		Method: "POST", Timeout: postTimeout,
	}
	for _, dependency := range t.On {
		event := parameter(dependency, "event", "event")
		event.Src.UseRawData = true
		http.Payload = append(http.Payload, event)
	}
	return eventsv1.Trigger{
		Template:      &eventsv1.TriggerTemplate{Name: t.Name, Conditions: strings.Join(t.On, " || "), HTTP: http},
		AtLeastOnce:   true,
		RetryStrategy: backoff(6, "1s"),
		Policy:        &eventsv1.TriggerPolicy{Status: &eventsv1.StatusPolicy{Allow: []int32{200}}},
		DlqTrigger:    deadLetter(t.Name + "-failed"),
	}
}
