package simulate

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
	"github.com/argoperator/argoperator/pkg/manifest"
)

const (
	credentials = "/var/run/secrets/kubernetes.io/serviceaccount"
	executor    = "/var/run/argo" // volume that Argo's executor shares between the containers of a pod
	executors   = "var-run-argo"
)

// pod runs the containers of a template. Volumes are directories on this machine,
// and the cluster listens on a local address.
func (r *run) pod(ctx context.Context, t wfv1.Template) (outputs map[string]string, failure string, err error) {
	dir, err := os.MkdirTemp("", "argoperator-pod-*")
	if err != nil {
		return nil, "", fmt.Errorf("creating the directory of the pod: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	api, err := serve(r.s.api, r.account())
	if err != nil {
		return nil, "", err
	}
	defer api.close()
	p := &pod{run: r, template: t, dir: dir, api: api}
	if err := errors.Join(p.volumes(), p.clock()); err != nil {
		return nil, "", err
	}
	ctx, stop := podDeadline(ctx, t)
	defer stop()
	failure, err = p.containers(ctx)
	if err != nil || failure != "" {
		return nil, failure, err
	}
	return p.outputs()
}

// clockDir holds the simulated clock for the operator's own program, which compares
// times with those of the cluster, and its random values.
const clockDir = "/operator/clock"

//go:embed sitecustomize.py
var clockModule []byte

// Chance is the Python module of random values that a simulation has.
//
//go:embed chance.py
var Chance []byte

// clock writes the modules to a directory on Python's search path.
func (p *pod) clock() error {
	dir := p.clockMount().Source
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("creating the clock of the pod: %w", err)
	}
	for name, module := range map[string][]byte{"sitecustomize.py": clockModule, "chance.py": Chance} {
		if err := os.WriteFile(filepath.Join(dir, name), module, 0o644); err != nil {
			return fmt.Errorf("creating the clock of the pod: %w", err)
		}
	}
	return nil
}

func (p *pod) clockMount() cluster.Mount {
	return cluster.Mount{Path: clockDir, Source: filepath.Join(p.dir, ".clock"), ReadOnly: true}
}

// pod is one running pod.
type pod struct {
	*run
	template wfv1.Template
	dir      string
	api      *api
}

// api serves the cluster on a local address.
type api struct {
	cluster.Recorder
	address string
	server  *http.Server
}

func serve(server http.Handler, account string) (*api, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening on a local address: %w", err)
	}
	a := &api{Recorder: cluster.Recorder{Cluster: server, Account: account}, address: "http://" + listener.Addr().String()}
	a.server = &http.Server{Handler: a, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = a.server.Serve(listener) }() // ends with close
	return a, nil
}

func (a *api) close() { _ = a.server.Close() } // no request is in flight

// volumes creates a directory for each volume and fills those of ConfigMaps.
func (p *pod) volumes() error {
	for _, v := range slices.Concat(p.spec.Volumes, p.template.Volumes) {
		dir := filepath.Join(p.dir, v.Name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("creating volume %s: %w", v.Name, err)
		}
		if v.ConfigMap == nil {
			continue
		}
		files := p.s.configMaps[p.record.Namespace+"/"+v.ConfigMap.Name]
		if files == nil {
			return fmt.Errorf("volume %s: ConfigMap %s does not exist", v.Name, v.ConfigMap.Name)
		}
		for _, item := range items(v.ConfigMap, files) {
			path := filepath.Join(dir, filepath.FromSlash(item.Path))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return fmt.Errorf("creating volume %s: %w", v.Name, err)
			}
			if err := os.WriteFile(path, []byte(p.localPaths(files.Data[item.Key])), 0o644); err != nil {
				return fmt.Errorf("creating volume %s: %w", v.Name, err)
			}
		}
	}
	return nil
}

// items returns the files of a volume.
func items(source *corev1.ConfigMapVolumeSource, files *corev1.ConfigMap) []corev1.KeyToPath {
	if len(source.Items) > 0 {
		return source.Items
	}
	var all []corev1.KeyToPath
	for name := range files.Data {
		all = append(all, corev1.KeyToPath{Key: name, Path: name})
	}
	return all
}

// localPaths rewrites the paths in a file for programs that run on this machine. It
// rewrites only paths of single files and ConfigMaps, because names of other
// directories, such as /tmp, may mean something else in a text.
func (p *pod) localPaths(text string) string {
	if p.s.runner.Isolated() {
		return text
	}
	fixed := map[string]bool{}
	for _, v := range slices.Concat(p.spec.Volumes, p.template.Volumes) {
		fixed[v.Name] = v.ConfigMap != nil
	}
	var mounts []cluster.Mount
	for _, c := range containersOf(p.template) {
		for _, m := range c.VolumeMounts {
			if m.SubPath != "" || fixed[m.Name] {
				mounts = append(mounts, p.mount(m))
			}
		}
	}
	return cluster.LocalPaths(text, mounts)
}

func containersOf(t wfv1.Template) []corev1.Container {
	var out []corev1.Container
	if t.Container != nil {
		out = append(out, *t.Container)
	}
	if t.ContainerSet != nil {
		for _, c := range t.ContainerSet.Containers {
			out = append(out, c.Container)
		}
	}
	return out
}

// waitsForOthers returns 1 for a container that waits until the others have ended,
// for sorting.
func waitsForOthers(c wfv1.ContainerNode) int {
	if slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == "ARGOPERATOR_EXECUTOR" }) {
		return 1
	}
	return 0
}

// containers runs the containers one after the other and skips those that depend on
// a failed one.
func (p *pod) containers(ctx context.Context) (failure string, err error) {
	for _, c := range p.template.InitContainers {
		if failure, err := p.container(ctx, c.Container); err != nil || failure != "" {
			return failure, err
		}
	}
	if c := p.template.Container; c != nil {
		return p.container(ctx, *c)
	}
	failed := map[string]bool{}
	for _, c := range inOrder(p.template.ContainerSet.Containers) {
		if i := slices.IndexFunc(c.Dependencies, func(name string) bool { return failed[name] }); i >= 0 {
			failed[c.Name] = true
			p.record.Containers = append(
				p.record.Containers,
				Container{Template: p.template.Name, Name: c.Name, Skipped: c.Dependencies[i] + " failed"},
			)
			continue
		}
		why, err := p.container(ctx, c.Container)
		if err != nil {
			return "", err
		}
		if why == deadlineMessage { // the pod has been deleted
			return why, nil
		}
		if why != "" {
			failed[c.Name] = true
			failure = cmp.Or(failure, why) // the first failure explains those of dependent containers
		}
	}
	return failure, nil
}

// inOrder sorts containers after those that they depend on, or that they wait for
// through the files of Argo's executor.
func inOrder(containers []wfv1.ContainerNode) []wfv1.ContainerNode {
	containers = slices.SortedStableFunc(slices.Values(containers), func(a, b wfv1.ContainerNode) int {
		return cmp.Compare(waitsForOthers(a), waitsForOthers(b))
	})
	var out []wfv1.ContainerNode
	done := map[string]bool{}
	for len(out) < len(containers) {
		before := len(out)
		for _, c := range containers {
			waits := slices.ContainsFunc(c.Dependencies, func(name string) bool { return !done[name] })
			if !done[c.Name] && !waits {
				out, done[c.Name] = append(out, c), true
			}
		}
		if len(out) == before { // a cycle, which Argo refuses
			return out
		}
	}
	return out
}

// container runs one program until it ends.
func (p *pod) container(ctx context.Context, c corev1.Container) (failure string, err error) {
	program, unset := p.program(c)
	if p.template.ContainerSet != nil {
		program.Mounts = append(program.Mounts, p.mount(corev1.VolumeMount{Name: executors, MountPath: executor}))
	}
	record := Container{Template: p.template.Name, Name: c.Name, Command: program.Command, Missing: unset}
	written, brought := p.written(c)
	program.Digest = brought.of(written).Digest
	if program.API = brought.hasToken(written); program.API { // others may not call the API server
		program.Mounts = append(program.Mounts, p.clockMount())
		program.Env = append(
			program.Env,
			"ARGOPERATOR_API="+p.api.address,
			"PYTHONPATH="+clockDir,
			fmt.Sprintf("ARGOPERATOR_CLOCK_OFFSET=%g", p.s.later.Seconds()),
		)
	}
	p.s.progress("Workflow %s, container %s", p.record.Name, cmp.Or(c.Name, "main"))
	output, code, err := p.s.runner.Run(ctx, program)
	late := deadlineOf(ctx)
	if missing := (*missingError)(nil); errors.As(err, &missing) && manifest.IsDiagnosis(p.spec) {
		record.Skipped = missing.message
		p.record.Containers = append(p.record.Containers, record)
		return "", nil
	}
	if err != nil && late == nil {
		return "", fmt.Errorf("container %s: %w", c.Name, err)
	}
	record.Output, record.ExitCode, record.Calls = withMountPaths(string(output), program.Mounts), code, p.api.TakeCalls()
	p.s.normalizeCalls(record.Calls)
	if err != nil {
		record.ExitCode, record.Killed = exitKilled, late.Error()
	}
	p.record.Containers = append(p.record.Containers, record)
	if err != nil {
		return deadlineMessage, nil
	}
	if err := p.writeExitCode(c.Name, code); err != nil {
		return "", err
	}
	if code == 0 {
		return "", nil
	}
	return fmt.Sprintf("%s: Error (exit code %d): %s", cmp.Or(c.Name, "main"), code, strings.TrimSpace(record.Output)), nil
}

// program returns a container as a program, and the variables whose Secret or ConfigMap does
// not exist.
func (p *pod) program(c corev1.Container) (out Program, missing []string) {
	out = Program{Image: c.Image, Dir: c.WorkingDir, Scratch: p.dir, Command: slices.Concat(c.Command, c.Args)}
	for _, m := range c.VolumeMounts {
		out.Mounts = append(out.Mounts, p.mount(m))
	}
	out.Env, missing = p.environment(c.Env)
	return out, missing
}

// written returns a container as the WorkflowTemplate has it, and what finds its code.
func (p *pod) written(c corev1.Container) (corev1.Container, coder) {
	t, _ := p.templateNamed(p.template.Name)
	code := coder{p.record.Namespace, p.spec, t, p.s.configMaps, p.s.runner.Isolated()}
	all := allContainersOf(t)
	i := slices.IndexFunc(all, func(one corev1.Container) bool { return one.Name == c.Name })
	if i < 0 {
		return c, code // a name with a parameter, which no template has
	}
	return all[i], code
}

// withMountPaths returns the output of a program with the paths that its files have in
// a real pod.
func withMountPaths(output string, mounts []cluster.Mount) string {
	for _, m := range mounts {
		output = strings.ReplaceAll(output, m.Source, m.Path)
	}
	return output
}

// writeExitCode writes the exit code of a container where Argo's executor does, for
// containers that wait for it.
func (p *pod) writeExitCode(name string, code int) error {
	if p.template.ContainerSet == nil {
		return nil
	}
	dir := filepath.Join(p.dir, executors, "ctr", name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("container %s: %w", name, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "exitcode"), []byte(strconv.Itoa(code)), 0o644); err != nil {
		return fmt.Errorf("container %s: %w", name, err)
	}
	return nil
}

func (p *pod) mount(m corev1.VolumeMount) cluster.Mount {
	return cluster.Mount{Path: m.MountPath, Source: filepath.Join(p.dir, m.Name, filepath.FromSlash(m.SubPath)), ReadOnly: m.ReadOnly}
}

// environment returns the environment of a container, and the variables whose
// Secret or ConfigMap does not exist.
func (p *pod) environment(vars []corev1.EnvVar) (env, missing []string) {
	for _, v := range vars {
		value, from := v.Value, ""
		if v.ValueFrom != nil {
			value, from = p.valueFrom(v.ValueFrom)
		}
		if from != "" {
			missing = append(missing, v.Name+" from "+from)
			continue
		}
		env = append(env, v.Name+"="+value)
	}
	return env, missing
}

// valueFrom looks up a value in the cluster, or returns the source that does not
// exist.
func (p *pod) valueFrom(source *corev1.EnvVarSource) (value, missing string) {
	if ref := source.SecretKeyRef; ref != nil {
		if o := p.s.find("Secret", p.record.Namespace, ref.Name); o != nil {
			text, found, _ := unstructured.NestedString(o, "stringData", ref.Key)
			if found {
				return text, ""
			}
			text, found, _ = unstructured.NestedString(o, "data", ref.Key)
			if data, err := base64.StdEncoding.DecodeString(text); found && err == nil {
				return string(data), ""
			}
		}
		return "", "Secret " + ref.Name + ", key " + ref.Key
	}
	if ref := source.ConfigMapKeyRef; ref != nil {
		if o := p.s.find("ConfigMap", p.record.Namespace, ref.Name); o != nil {
			if text, found, _ := unstructured.NestedString(o, "data", ref.Key); found {
				return text, ""
			}
		}
		return "", "ConfigMap " + ref.Name + ", key " + ref.Key
	}
	return "", "a field of the pod"
}

// find returns a Secret or a ConfigMap, or nil.
func (s *Simulation) find(kind, namespace, name string) map[string]any {
	found, err := s.Get(map[string]any{"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"namespace": namespace, "name": name}})
	if err != nil {
		return nil // as a pod that does not start: the variable is reported as missing
	}
	return found
}

// outputs reads the output parameters from their files.
func (p *pod) outputs() (map[string]string, string, error) {
	out := map[string]string{}
	for _, o := range p.template.Outputs.Parameters {
		path, ok := p.hostPath(o.ValueFrom)
		if !ok {
			return nil, "", fmt.Errorf("template %s: output %s is not simulated", p.template.Name, o.Name)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Sprintf("missing output %s", o.Name), nil //nolint:nilerr // the Workflow's failure, not ours
		}
		out[o.Name] = strings.TrimSuffix(string(data), "\n")
	}
	return out, "", nil
}

// hostPath returns the path of a file of the main container on this machine.
func (p *pod) hostPath(from *wfv1.ValueFrom) (string, bool) {
	if from == nil || from.Path == "" {
		return "", false
	}
	main := p.template.Container
	if set := p.template.ContainerSet; set != nil {
		for i := range set.Containers {
			if set.Containers[i].Name == "main" {
				main = &set.Containers[i].Container
			}
		}
	}
	if main == nil {
		return "", false
	}
	for _, m := range main.VolumeMounts {
		if rest, ok := strings.CutPrefix(from.Path, m.MountPath+"/"); ok && m.SubPath == "" {
			return filepath.Join(p.dir, m.Name, filepath.FromSlash(rest)), true
		}
	}
	return "", false
}
