package manifest

import (
	"slices"

	"github.com/argoproj/argo-workflows/v3/pkg/apis/workflow"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// Seconds that finished Workflows are kept for inspection.
const (
	keepSucceeded int32 = 300
	keepFailed    int32 = 24 * 60 * 60
)

// workflowTemplates hold everything that Sensors and pods start. A Workflow of the Sensor
// only has the key of one custom resource as its argument.
func workflowTemplates(p *plan.Plan) []Object {
	if p.Reconcile.Execution.Stays {
		return nil
	}
	if !p.Reconcile.Execution.RunsPods {
		if p.Reconcile.Diagnoses {
			return []Object{diagnosisTemplate(p)}
		}
		return nil
	}
	list := []Object{reconcileTemplate(p)}
	if p.EnqueuesRelated() {
		list = append(list, enqueueTemplate(p))
	}
	if p.Runtime.Timer != "" {
		list = append(list, timerTemplate(p))
	}
	return list
}

func reconcileTemplate(p *plan.Plan) Object {
	templates := reconcileTemplates(p)
	spec := workflowSpecOf(p, plan.ReconcileAccount)
	spec.Entrypoint = templates[0].Name
	spec.OnExit = "exit"
	spec.ActiveDeadlineSeconds = &p.Shared.TimeoutSeconds
	spec.Synchronization = mutex(p.Operator.Name + ".{{workflow.parameters.key}}")
	spec.Arguments = wfv1.Arguments{Parameters: arguments(p)}
	spec.Metrics = metrics(p, p.Monitoring.Reconciles)
	spec.Templates = append(templates, exitTemplate(), reportTemplate(p))
	return workflowTemplate(p, p.Names.WorkflowTemplate, spec)
}

// reconcileTemplates run one reconcile. The first one is the entrypoint.
func reconcileTemplates(p *plan.Plan) []wfv1.Template {
	switch {
	case p.Reconcile.Execution.PodPerStep:
		return stepsTemplates(p)
	case hasLogic(p):
		return []wfv1.Template{containerSetTemplate(p)}
	default:
		return []wfv1.Template{containerTemplate(p)}
	}
}

func hasLogic(p *plan.Plan) bool { return p.Logic.Image != "" }

// arguments returns the arguments that the Sensor sets, in the order in which its
// trigger sets them.
func arguments(p *plan.Plan) []wfv1.Parameter {
	list := []wfv1.Parameter{{
		Name:        "key",
		Description: wfv1.AnyStringPtr("namespace and name of the custom resource, joined by a dot"),
	}}
	if p.Reconcile.Execution.PodPerStep {
		list = append(list, wfv1.Parameter{
			Name:        "generation",
			Value:       wfv1.AnyStringPtr(""),
			Description: wfv1.AnyStringPtr("the generation of the custom resource that it is about; empty: whichever there is"),
		})
	}
	if p.Runtime.SensorTemplates {
		list = append(list, wfv1.Parameter{
			Name:        "desired",
			Value:       wfv1.AnyStringPtr(""),
			Description: wfv1.AnyStringPtr("the children that the templates make, as JSON in base64; empty: compute them again"),
		})
	}
	return list
}

// resyncSpec starts a Workflow for each custom resource that needs one.
func resyncSpec(p *plan.Plan) wfv1.WorkflowSpec {
	spec := workflowSpecOf(p, plan.ResyncAccount)
	spec.Entrypoint = "resync"
	spec.Metrics = metrics(p, p.Monitoring.Resyncs)
	spec.ActiveDeadlineSeconds = &p.Shared.TimeoutSeconds
	resync := podTemplate(p, "resync")
	resync.Container = runtimeContainer(p, "", "resync")
	spec.Templates = []wfv1.Template{resync}
	return spec
}

// rotationSpec rotates the token of the Sensors.
func rotationSpec(p *plan.Plan) wfv1.WorkflowSpec {
	spec := workflowSpecOf(p, plan.TokenAccount)
	spec.Entrypoint = "rotate"
	spec.ActiveDeadlineSeconds = &p.Shared.TimeoutSeconds
	rotate := podTemplate(p, "rotate")
	rotate.Container = runtimeContainer(p, "", "rotate")
	spec.Templates = []wfv1.Template{rotate}
	return spec
}

// enqueueTemplate finds the custom resources that refer to a changed object. It
// waits, without a pod, until the time window of the changes has ended.
func enqueueTemplate(p *plan.Plan) Object {
	spec := workflowSpecOf(p, plan.ResyncAccount)
	spec.Entrypoint = "enqueue"
	spec.ActiveDeadlineSeconds = &p.Shared.TimeoutSeconds
	spec.Synchronization = mutex(p.Operator.Name + ".enqueue") // two Workflows at a time would find the same
	spec.Arguments = wfv1.Arguments{Parameters: []wfv1.Parameter{{
		Name: "wait", Description: wfv1.AnyStringPtr("seconds until no more changes are added to this Workflow"),
	}}}
	find := podTemplate(p, "find-custom-resources")
	find.Container = runtimeContainer(p, "", "enqueue")
	spec.Templates = []wfv1.Template{
		inTurn("enqueue", "wait", "find-custom-resources"),
		pause("wait", "{{workflow.parameters.wait}}"),
		find,
	}
	return workflowTemplate(p, p.EnqueueTemplate(), spec)
}

// longest limits the duration of a delayed Workflow in seconds: a day more than the
// longest delay that argoperator's steps accept.
const longest int64 = 31 * 24 * 60 * 60

// timerTemplate reconciles after a delay that the logic has requested. It acquires the
// mutex of the custom resource after the delay, so that other reconciles can run
// meanwhile.
func timerTemplate(p *plan.Plan) Object {
	deadline := longest
	spec := workflowSpecOf(p, plan.ReconcileAccount)
	spec.Entrypoint = "timer"
	spec.OnExit = "exit"
	spec.ActiveDeadlineSeconds = &deadline
	spec.Arguments = wfv1.Arguments{Parameters: append(arguments(p), wfv1.Parameter{
		Name: "seconds", Description: wfv1.AnyStringPtr("how long it waits"),
	})}
	locked := inTurn("reconcile-with-mutex", "reconcile")
	locked.Synchronization = mutex(p.Operator.Name + ".{{workflow.parameters.key}}")
	reconcile := reconcileTemplates(p)[0]
	limit := intstr.FromInt32(int32(p.Shared.TimeoutSeconds))
	reconcile.ActiveDeadlineSeconds = &limit
	spec.Templates = []wfv1.Template{
		inTurn("timer", "pause", "reconcile-with-mutex"), pause("pause", "{{workflow.parameters.seconds}}"), locked, reconcile,
		exitTemplate(), reportTemplate(p),
	}
	return workflowTemplate(p, p.Runtime.Timer, spec)
}

// inTurn runs templates sequentially.
func inTurn(name string, templates ...string) wfv1.Template {
	t := wfv1.Template{Name: name}
	for _, one := range templates {
		t.Steps = append(t.Steps, wfv1.ParallelSteps{Steps: []wfv1.WorkflowStep{{Name: one, Template: one}}})
	}
	return t
}

// pause waits without a pod. Its duration is in seconds.
func pause(name, duration string) wfv1.Template {
	return wfv1.Template{Name: name, Suspend: &wfv1.SuspendTemplate{Duration: duration}}
}

func workflowTemplate(p *plan.Plan, name string, spec wfv1.WorkflowSpec) Object {
	return &wfv1.WorkflowTemplate{
		TypeMeta:   workflowType(workflow.WorkflowTemplateKind),
		ObjectMeta: meta(p, name),
		Spec:       spec,
	}
}

// workflowSpecOf returns the common spec of the operator's Workflows.
func workflowSpecOf(p *plan.Plan, a plan.Account) wfv1.WorkflowSpec {
	succeeded, failed := keepSucceeded, keepFailed
	more := p.Shared.PodTemplate
	return wfv1.WorkflowSpec{
		NodeSelector:         more.Spec.NodeSelector,
		Tolerations:          more.Spec.Tolerations,
		Affinity:             more.Spec.Affinity,
		ImagePullSecrets:     more.Spec.ImagePullSecrets,
		PodPriorityClassName: more.Spec.PriorityClassName,
		ServiceAccountName:   p.ServiceAccount(a),
		SecurityContext:      podSecurity(),
		PodGC:                &wfv1.PodGC{Strategy: wfv1.PodGCOnPodSuccess},
		TTLStrategy:          &wfv1.TTLStrategy{SecondsAfterSuccess: &succeeded, SecondsAfterFailure: &failed},
		PodMetadata:          &wfv1.Metadata{Labels: podLabels(p, nil), Annotations: more.Annotations},
	}
}

// mutex serializes Workflows with the same mutex name.
func mutex(name string) *wfv1.Synchronization {
	return &wfv1.Synchronization{Mutexes: []*wfv1.Mutex{{Name: name}}}
}

// RuntimeDir is where the pods have argoperator's own program, and WorkerDir what only the worker has of it.
const (
	RuntimeDir = "/operator/runtime"
	WorkerDir  = "/operator/worker"
)

// Volumes and their mount paths.
const (
	logicDir       = "/operator/logic"
	parametersDir  = "/operator/parameters"
	workspaceDir   = "/workspace"        // shared by argoperator's own steps and the logic
	stateDir       = "/state"            // not accessible to the logic
	executorDir    = "/var/run/argo/ctr" // where Argo's executor keeps the exit codes of a pod's containers
	temporaryDir   = "/tmp"
	credentialsDir = "/var/run/secrets/kubernetes.io/serviceaccount"
)

// runtimeVolumes returns the volumes of argoperator's own steps. They belong to a
// template: of the volumes of the Workflow, Argo adds only those to a pod that it finds
// mounted, and it does not look into container sets.
func runtimeVolumes(p *plan.Plan) []corev1.Volume {
	return []corev1.Volume{
		configMapVolume("runtime", p.Names.RuntimeConfigMap, nil),
		emptyDir("workspace"),
		emptyDir("tmp"),
	}
}

// logicVolumes returns the additional volumes of the user's program.
func logicVolumes(p *plan.Plan) []corev1.Volume {
	return []corev1.Volume{
		configMapVolume("logic", p.Names.ConfigMap, p.Logic.Files),
		emptyDir("logic-tmp"),
		emptyDir("no-credentials"),
	}
}

// configMapVolume returns a volume with some files of a ConfigMap, or without any with all of its keys as files.
func configMapVolume(name, configMap string, files []plan.File) corev1.Volume {
	source := &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: configMap}}
	for _, f := range files {
		source.Items = append(source.Items, corev1.KeyToPath{Key: f.Key, Path: f.Path})
	}
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{ConfigMap: source}}
}

// files returns files that have the names of their keys.
func files(names ...string) []plan.File {
	var out []plan.File
	for _, name := range names {
		out = append(out, plan.File{Key: name, Path: name})
	}
	return out
}

func emptyDir(name string) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}
}

func mount(volume, path string) corev1.VolumeMount {
	return corev1.VolumeMount{Name: volume, MountPath: path}
}

func readOnly(volume, path string) corev1.VolumeMount {
	return corev1.VolumeMount{Name: volume, MountPath: path, ReadOnly: true}
}

// podTemplate returns a template that runs an argoperator pod.
func podTemplate(p *plan.Plan, name string) wfv1.Template {
	return wfv1.Template{
		Name:         name,
		Volumes:      runtimeVolumes(p),
		PodSpecPatch: executorPatch(),
		RetryStrategy: &wfv1.RetryStrategy{
			Limit:       limit(p.Shared.Retries),
			RetryPolicy: wfv1.RetryPolicyAlways,
			Backoff:     &wfv1.Backoff{Duration: "2", Factor: limit(2), MaxDuration: "5m"},
		},
	}
}

func limit(n int32) *intstr.IntOrString {
	v := intstr.FromInt32(n)
	return &v
}

// runtimeContainer runs one command of argoperator's own steps.
func runtimeContainer(p *plan.Plan, name, command string) *corev1.Container {
	c := scriptContainer(p, name, runtimeScript)
	c.Args, c.Env = []string{command}, runtimeEnv(p, command)
	c.VolumeMounts = slices.Insert(c.VolumeMounts, 1, mount("workspace", workspaceDir))
	return c
}

// scriptContainer runs one of argoperator's own programs.
func scriptContainer(p *plan.Plan, name, script string) *corev1.Container {
	return &corev1.Container{
		Name:            name,
		Image:           p.Shared.RuntimeImage,
		Command:         []string{"python3", "-B", RuntimeDir + "/" + script},
		Resources:       resources(p.Shared.Resources),
		SecurityContext: containerSecurity(),
		// so that Argo reports the last lines of a failed container
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		VolumeMounts:             []corev1.VolumeMount{readOnly("runtime", RuntimeDir), mount("tmp", temporaryDir)},
	}
}

// runtimeEnv passes values that are safe in Argo's templates: a key consists of names,
// and the computed children are base64. Neither contains braces.
func runtimeEnv(p *plan.Plan, command string) []corev1.EnvVar {
	env := []corev1.EnvVar{
		{Name: "ARGOPERATOR_CONFIG", Value: RuntimeDir + "/" + runtimeConfig},
		{Name: "ARGOPERATOR_WORKSPACE", Value: workspaceDir},
		{Name: "ARGOPERATOR_WORKFLOW", Value: "{{workflow.name}}"},
	}
	switch {
	case command == "resync", command == "enqueue", command == "rotate":
		return env
	case hasLogic(p):
		env = append(env, exchangeEnv()...)
	default: // without the files, the script assumes that there is no logic
		env = append(env, keyEnv())
	}
	if command == "steps-read" {
		env = append(env, corev1.EnvVar{Name: "ARGOPERATOR_GENERATION", Value: "{{workflow.parameters.generation}}"})
	}
	if p.Runtime.SensorTemplates && (command == "read" || command == "apply") {
		env = append(env, corev1.EnvVar{Name: "ARGOPERATOR_DESIRED", Value: "{{workflow.parameters.desired}}"})
	}
	return env
}

func keyEnv() corev1.EnvVar {
	return corev1.EnvVar{Name: "ARGOPERATOR_KEY", Value: "{{workflow.parameters.key}}"}
}

// exchangeEnv is shared by argoperator's own steps and the logic: the custom resource,
// and the files that they exchange.
func exchangeEnv() []corev1.EnvVar {
	return []corev1.EnvVar{
		keyEnv(),
		{Name: "ARGOPERATOR_REQUEST", Value: workspaceDir + "/request.json"},
		{Name: "ARGOPERATOR_RESPONSE", Value: workspaceDir + "/response.json"},
	}
}

// containerTemplate is the pod of a definition without logic. One container is
// sufficient, because no user's program runs.
func containerTemplate(p *plan.Plan) wfv1.Template {
	t := podTemplate(p, "reconcile")
	t.Container = runtimeContainer(p, "", "apply")
	return t
}

// containerSetTemplate is the pod of the workflow engine: argoperator's read, the
// logic, and argoperator's apply. They start together, and each waits for a file of the
// previous one. With dependencies instead, Argo's executor would check once a second
// whether a program has ended, and once a second whether its dependency has, which
// costs two seconds or more.
//
// read passes its state to apply in a volume that the logic does not have. All
// containers can write to a volume of Argo's executor, which contains its own program.
// Therefore the logic, which may run what a custom resource contains, starts last.
func containerSetTemplate(p *plan.Plan) wfv1.Template {
	t := podTemplate(p, "reconcile")
	t.Volumes = append(t.Volumes, logicVolumes(p)...)
	logic := logicContainer(p, logicName)
	logic.Command = append([]string{"sh", "-c", afterRead, logicName}, p.Logic.Command...)
	apply := withState(runtimeContainer(p, "apply", "apply"))
	apply.Env = append(apply.Env, corev1.EnvVar{Name: "ARGOPERATOR_EXECUTOR", Value: executorDir})
	t.Volumes = append(t.Volumes, emptyDir("state"))
	t.ContainerSet = &wfv1.ContainerSetTemplate{Containers: []wfv1.ContainerNode{
		{Container: withState(runtimeContainer(p, "read", "read"))},
		{Container: apply},
		{Container: logic},
	}}
	return t
}

// withState mounts the volume that the logic must not access.
func withState(c *corev1.Container) corev1.Container {
	c.Env = append(c.Env, corev1.EnvVar{Name: "ARGOPERATOR_STATE", Value: stateDir})
	c.VolumeMounts = append(c.VolumeMounts, mount("state", stateDir))
	return *c
}

// afterRead waits until read has ended, runs the logic and writes its exit code.
// Without a request there is nothing to do: the custom resource was deleted, or read
// has failed. If a container was killed and cannot write its exit code, Argo's executor
// writes one into a directory that all containers share. The executor signals the whole
// process group; the shell survives a SIGTERM that the logic uses to end gracefully.
// Some shells support only integers for sleep.
const afterRead = `trap 'echo $? > ` + workspaceDir + `/logic.exit' EXIT
until test -s ` + workspaceDir + `/read.exit || test -s ` + executorDir + `/read/exitcode; do sleep 0.1 2> /dev/null || sleep 1; done
trap : TERM
test ! -f "$ARGOPERATOR_REQUEST" || "$@"`

// logicName is the name of the container that logicContainer returns.
const logicName = "logic"

// logicContainer runs the user's program without the service account's token.
func logicContainer(p *plan.Plan, name string) corev1.Container {
	return corev1.Container{
		Name:            name,
		Image:           p.Logic.Image,
		WorkingDir:      logicDir,
		Env:             append(exchangeEnv(), userEnv(p)...),
		Resources:       resources(p.Logic.Resources),
		SecurityContext: containerSecurity(),

		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		VolumeMounts: []corev1.VolumeMount{
			readOnly("logic", logicDir), mount("workspace", workspaceDir), mount("logic-tmp", temporaryDir),
			readOnly("no-credentials", credentialsDir),
		},
	}
}

func userEnv(p *plan.Plan) []corev1.EnvVar {
	var env []corev1.EnvVar
	for _, e := range p.Logic.Env {
		v := corev1.EnvVar{Name: e.Name, Value: e.Value}
		if e.Secret != "" {
			v.ValueFrom = &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
				LocalObjectReference: corev1.LocalObjectReference{Name: e.Secret}, Key: e.Key,
			}}
		}
		env = append(env, v)
	}
	return env
}

// exitTemplate reports a failed Workflow in the status of its custom resource. After a
// success it starts no pod.
func exitTemplate() wfv1.Template {
	return wfv1.Template{
		Name: "exit",
		Steps: []wfv1.ParallelSteps{{Steps: []wfv1.WorkflowStep{{
			Name: "report", Template: "report", When: "{{workflow.status}} != Succeeded",
		}}}},
	}
}

func reportTemplate(p *plan.Plan) wfv1.Template {
	t := podTemplate(p, "report")
	t.Container = runtimeContainer(p, "", "report")
	t.Container.Env = append(t.Container.Env,
		corev1.EnvVar{Name: "ARGOPERATOR_WORKFLOW_STATUS", Value: "{{workflow.status}}"})
	return t
}
