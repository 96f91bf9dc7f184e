package manifest

import (
	"fmt"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	corev1 "k8s.io/api/core/v1"

	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// The steps engine runs every step in a pod and passes values as output parameters,
// which are visible in Argo's user interface. Values with text of the custom resource
// are JSON without braces in strings, so that Argo does not expand templates in them.

const (
	outputManifest = "output-manifest.json"
	mainContainer  = "main" // the container whose outputs Argo reads
)

func stepsTemplates(p *plan.Plan) []wfv1.Template {
	return []wfv1.Template{
		stepsMain(p), stepsRead(p), stepsLogic(p), stepsDeploy(p), stepsStatus(p),
	}
}

func stepsMain(p *plan.Plan) wfv1.Template {
	wanted := "{{steps.read.outputs.parameters.go}} == true"
	var logicArguments []wfv1.Parameter
	for _, name := range stepsInputs(p) {
		logicArguments = append(logicArguments, argument(name, "{{steps.read.outputs.parameters."+name+"}}"))
	}
	return wfv1.Template{
		Name: "main",
		Steps: []wfv1.ParallelSteps{
			step("read", "read", ""),
			step("operator-logic", "operator-logic", wanted, logicArguments...),
			step("deploy", "deploy", wanted, argument("manifest", "{{steps.operator-logic.outputs.parameters.manifest}}")),
			step("status", "status", wanted, argument(manifestName(p), "{{steps.read.outputs.parameters."+manifestName(p)+"}}")),
		},
	}
}

// stepsInputs returns the parameters of the user's program: the custom resource, then
// those of the definition.
func stepsInputs(p *plan.Plan) []string {
	names := []string{manifestName(p)}
	for _, f := range p.Logic.Parameters {
		names = append(names, f.Key)
	}
	return names
}

// manifestName returns the parameter that holds the custom resource.
func manifestName(p *plan.Plan) string { return p.API.Singular + "-manifest" }

func step(name, template, when string, arguments ...wfv1.Parameter) wfv1.ParallelSteps {
	return wfv1.ParallelSteps{Steps: []wfv1.WorkflowStep{{
		Name: name, Template: template, When: when, Arguments: wfv1.Arguments{Parameters: arguments},
	}}}
}

func argument(name, value string) wfv1.Parameter {
	return wfv1.Parameter{Name: name, Value: wfv1.AnyStringPtr(value)}
}

func output(name, path string) wfv1.Parameter {
	return wfv1.Parameter{Name: name, ValueFrom: &wfv1.ValueFrom{Path: path}}
}

func inputs(names ...string) wfv1.Inputs {
	var in wfv1.Inputs
	for _, name := range names {
		in.Parameters = append(in.Parameters, wfv1.Parameter{Name: name})
	}
	return in
}

func stepsRead(p *plan.Plan) wfv1.Template {
	t := podTemplate(p, "read")
	t.Container = runtimeContainer(p, "", "steps-read")
	if len(p.Logic.Parameters) > 0 {
		t.Volumes = append(t.Volumes, configMapVolume("parameters", p.Names.ConfigMap, p.Logic.Parameters))
		t.Container.VolumeMounts = append(t.Container.VolumeMounts, readOnly("parameters", parametersDir))
	}
	t.Outputs.Parameters = []wfv1.Parameter{output("go", workspaceDir+"/go"), output(manifestName(p), workspaceDir+"/manifest")}
	for _, f := range p.Logic.Parameters {
		t.Outputs.Parameters = append(t.Outputs.Parameters, output(f.Key, workspaceDir+"/"+f.Key))
	}
	return t
}

// stepsLogic runs the unchanged user's program: the custom resource and the parameters
// are flags, the result is /output-manifest.json. The root directory is read-only, so
// an init container creates that file and it is mounted. The result may contain braces
// again. Therefore the second container, which sets the name and the owner of the
// child, runs in the same pod, and only its output is a parameter.
func stepsLogic(p *plan.Plan) wfv1.Template {
	t := podTemplate(p, "operator-logic")
	t.Volumes = append(t.Volumes, logicVolumes(p)...)
	t.Inputs = inputs(stepsInputs(p)...)
	logic := logicContainer(p, "logic")
	logic.Command = p.Logic.Command
	for _, name := range stepsInputs(p) {
		logic.Args = append(logic.Args, fmt.Sprintf("--%s={{inputs.parameters.%s}}", name, name))
	}
	logic.VolumeMounts = append(logic.VolumeMounts, corev1.VolumeMount{
		Name: "workspace", MountPath: "/" + outputManifest, SubPath: outputManifest,
	})
	own := runtimeContainer(p, mainContainer, "steps-set-owner")
	own.Env = append(own.Env, manifestEnv(p),
		corev1.EnvVar{Name: "ARGOPERATOR_RESULT", Value: workspaceDir + "/" + outputManifest})
	t.ContainerSet = &wfv1.ContainerSetTemplate{Containers: []wfv1.ContainerNode{
		{Container: logic},
		{Container: *own, Dependencies: []string{"logic"}},
	}}
	t.InitContainers = []wfv1.UserContainer{{Container: resultFile(p)}}
	t.Outputs.Parameters = []wfv1.Parameter{output("manifest", workspaceDir+"/manifest")}
	return t
}

func resultFile(p *plan.Plan) corev1.Container {
	return corev1.Container{
		Name:            "result-file",
		Image:           p.Logic.Image,
		Command:         []string{"sh", "-c", ": > " + workspaceDir + "/" + outputManifest},
		Resources:       resources(p.Shared.Resources),
		SecurityContext: containerSecurity(),
		VolumeMounts:    []corev1.VolumeMount{mount("workspace", workspaceDir), readOnly("no-credentials", credentialsDir)},
	}
}

func stepsDeploy(p *plan.Plan) wfv1.Template {
	t := podTemplate(p, "deploy")
	t.PodSpecPatch, t.Volumes = "", nil // Argo restricts the only container
	t.Inputs = inputs("manifest")
	flags := []string{"--server-side", "--field-manager=" + p.Operator.Name}
	if p.Runtime.ForceConflicts {
		flags = append(flags, "--force-conflicts")
	}
	t.Resource = &wfv1.ResourceTemplate{
		Action: "apply", Manifest: "{{inputs.parameters.manifest}}", Flags: flags,
	}
	return t
}

func stepsStatus(p *plan.Plan) wfv1.Template {
	t := podTemplate(p, "status")
	t.Inputs = inputs(manifestName(p))
	t.Container = runtimeContainer(p, "", "steps-status")
	t.Container.Env = append(t.Container.Env, manifestEnv(p))
	return t
}

// manifestEnv passes on the custom resource as it was read.
func manifestEnv(p *plan.Plan) corev1.EnvVar {
	return corev1.EnvVar{Name: "ARGOPERATOR_MANIFEST", Value: "{{inputs.parameters." + manifestName(p) + "}}"}
}
