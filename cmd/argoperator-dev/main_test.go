package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// asProgram is the environment variable that makes the test binary the program under test.
const asProgram = "ARGOPERATOR_DEV_TEST"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// program is a running argoperator-dev.
type program struct {
	*exec.Cmd
	stdin  io.Closer
	temp   string // its directory for temporary files
	stderr strings.Builder
	client *kubernetes.Clientset
	ended  chan error
}

// begin starts the program and waits until the cluster is ready.
func begin(t *testing.T, args ...string) *program {
	p := &program{Cmd: exec.Command(os.Args[0], args...), temp: t.TempDir(), ended: make(chan error, 1)}
	p.Env = append(os.Environ(), asProgram+"=1", "TMPDIR="+p.temp)
	p.Stderr = &p.stderr
	stdin, err := p.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.stdin = stdin
	stdout, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Process.Kill() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	file, ok := strings.CutPrefix(line, "export KUBECONFIG=")
	if err != nil || !ok {
		t.Fatalf("standard output %q: %v", line, err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", strings.TrimSpace(file))
	if err != nil {
		t.Fatal(err)
	}
	if p.client, err = kubernetes.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	go func() { p.ended <- p.Wait() }()
	return p
}

// ends checks that the program ends soon, without a message and without temporary files.
func (p *program) ends(t *testing.T) {
	t.Helper()
	select {
	case err := <-p.ended:
		if err != nil || p.stderr.Len() > 0 {
			t.Errorf("%v, standard error %q", err, p.stderr.String())
		}
	case <-time.After(time.Minute):
		t.Fatal("the program does not end")
	}
	left, err := os.ReadDir(p.temp)
	if err != nil || len(left) > 0 {
		t.Errorf("the program left %v: %v", left, err)
	}
}

func TestProgram(t *testing.T) {
	t.Run("ends when it is interrupted", func(t *testing.T) {
		p := begin(t)
		if err := p.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		p.ends(t)
	})
	t.Run("ends at once when it is interrupted twice", func(t *testing.T) {
		p := begin(t)
		// It stops, so that it cannot end between the two.
		for _, s := range []os.Signal{syscall.SIGSTOP, os.Interrupt, syscall.SIGTERM, syscall.SIGCONT} {
			if err := p.Process.Signal(s); err != nil {
				t.Fatal(err)
			}
		}
		if err := <-p.ended; err == nil {
			t.Error("the program ended as if it was interrupted once")
		}
	})
	t.Run("ends when standard input is closed, and keeps the directory that it was given", func(t *testing.T) {
		dir := t.TempDir()
		p := begin(t, "--with-parent", "--controllers=false", "--dir="+dir)
		t.Run("without controllers, a Deployment has the status that a user gives it", func(t *testing.T) { withoutControllers(t, p.client) })
		if err := p.stdin.Close(); err != nil {
			t.Fatal(err)
		}
		p.ends(t)
		if _, err := os.Stat(dir); err != nil {
			t.Error(err)
		}
	})
}

func TestFlags(t *testing.T) {
	var out strings.Builder
	if err := run([]string{"--version"}, strings.NewReader(""), &out); err != nil || !strings.HasPrefix(out.String(), "argoperator-dev devel, Kubernetes v") {
		t.Errorf("--version: %q, %v", out.String(), err)
	}
	if err := run([]string{"cluster"}, strings.NewReader(""), &out); err == nil || err.Error() != `unexpected argument "cluster"` {
		t.Errorf("an argument: %v", err)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, data), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := run([]string{"--dir=" + dir}, strings.NewReader(""), &out); !errors.Is(err, fs.ErrExist) {
		t.Errorf("the directory of another cluster: %v", err)
	}
}

func withoutControllers(t *testing.T, client kubernetes.Interface) {
	in := client.AppsV1().Deployments("default")
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "web"}}}}
	d, err := in.Create(t.Context(), &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: appsv1.DeploymentSpec{Selector: selector("web"), Template: template}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	d.Status.Replicas, d.Status.ReadyReplicas, d.Status.AvailableReplicas = 7, 7, 7
	if d, err = in.UpdateStatus(t.Context(), d, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "web", OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(d, appsv1.SchemeGroupVersion.WithKind("Deployment"))}}}
	create(t, client.CoreV1().ConfigMaps("default").Create, config)
	if d, err = in.Get(t.Context(), "web", metav1.GetOptions{}); err != nil || d.Status.AvailableReplicas != 7 {
		t.Errorf("status %+v, %v", d.Status, err)
	}
	if err := in.Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the garbage collector deletes what the Deployment owned", func(ctx context.Context) bool {
		_, err := client.CoreV1().ConfigMaps("default").Get(ctx, "web", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}
