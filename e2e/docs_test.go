//go:build e2e

package e2e

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/argoperator/argoperator/e2e/pages"
)

// TestDocs runs the commands of every page that take a cluster, in order, as
// whoever reads the page would. What a page takes for granted is there.
func TestDocs(t *testing.T) {
	if testing.Short() {
		t.Skip("not part of the short run")
	}
	all, err := pages.Read("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range all {
		if slices.ContainsFunc(page.Blocks, pages.Block.OnCluster) {
			t.Run(page.Name, func(t *testing.T) {
				t.Parallel()
				read(t, page)
			})
		}
	}
}

// granted is the definition that is installed, with its sample by the name of
// example, before the reader of a page begins. Other pages install what they are about.
var granted = map[string]string{
	"docs/how-to/operate.md":              "examples/memcached",
	"docs/how-to/restarts-and-outages.md": "examples/memcached",
	"docs/how-to/rotate-token.md":         "examples/memcached",
	"docs/how-to/uninstall.md":            "examples/memcached",
	"docs/how-to/upgrade.md":              "examples/memcached",
}

// about is the definition that a page installs itself.
func about(page string) string {
	switch page {
	case "README.md":
		return "examples/memcached"
	case "docs/tutorials/first-operator.md":
		return "site"
	case "docs/how-to/react-to-something-else.md":
		return "frontend"
	}
	return cmp.Or(granted[page], path.Dir(page))
}

func read(t *testing.T, page pages.Page) {
	definition := about(page.Name)
	reader := newReader(t)
	o := &operator{cluster: connect(t), name: page.Name}
	if strings.HasPrefix(definition, "examples/") {
		o.manifest = generate(t, filepath.Join("..", definition))
		o.objects = decode(t, o.manifest)
		o.take(t)
		o.awaitNoChildren(t)
	}
	t.Cleanup(func() {
		if t.Failed() {
			o.dump(t)
		}
		if o.objects != nil { // the garbage collector needs the kind of an owner: children first, then the API
			crd, name := o.only("CustomResourceDefinition").GetName(), o.only("EventSource").GetName()
			script := "! kubectl get crd " + crd + " || { kubectl delete " + crd + " --all --all-namespaces --timeout=5m &&" +
				" kubectl wait --for=delete deployments --all-namespaces -l app.kubernetes.io/managed-by=" + name + " --timeout=5m; }"
			if out, err := reader.shell(context.Background(), script); err != nil {
				t.Errorf("delete the custom resources: %v\n%s", err, out)
			}
		}
		for _, stage := range []string{"api", "operator"} {
			if out, err := reader.shell(context.Background(), "argoperator generate -f "+definition+" --uninstall="+stage+" | kubectl delete --ignore-not-found --timeout=5m -f -"); err != nil {
				t.Errorf("uninstall: %v\n%s", err, out)
			}
		}
	})
	if granted[page.Name] != "" {
		run(t, o.manifest, "kubectl", "apply", "-f", "-")
		o.awaitListening(t)
		sample := run(t, nil, binary(t), "sample", "-f", filepath.Join("..", definition))
		// the tutorial's has the same name, and would have the same Deployment
		sample = bytes.Replace(sample, []byte("\n  name: sample"), []byte("\n  name: example"), 1)
		run(t, sample, "kubectl", "apply", "-f", "-")
		run(t, sample, "kubectl", "wait", "-f", "-", "--for=condition=Ready", "--timeout=5m")
	}
	for _, b := range page.Blocks {
		reader.follow(t, b)
	}
}

// awaitNoChildren waits until there is no Deployment of the operator's custom resources,
// of which there are none. It deletes those that the garbage collector leaves because the
// kind of their owner was deleted before it knew the kind.
func (o *operator) awaitNoChildren(t *testing.T) {
	t.Helper()
	kind := nested(o.only("CustomResourceDefinition"), "spec", "names", "kind")
	o.cluster.await(t, "the children of a page to go", slow, deployments, "default", func(s seen) bool {
		left := false
		for _, d := range s {
			if slices.ContainsFunc(d.GetOwnerReferences(), func(owner metav1.OwnerReference) bool { return owner.Kind == kind }) {
				left = true
				run(t, nil, "kubectl", "delete", "deployment", d.GetName(), "--namespace", d.GetNamespace(), "--ignore-not-found", "--wait=false")
			}
		}
		return !left
	})
}

// reader is a copy of the repository, as after a clone.
type reader struct{ dir, path string }

func newReader(t *testing.T) reader {
	t.Helper()
	r := reader{dir: t.TempDir(), path: filepath.Dir(binary(t)) + string(filepath.ListSeparator) + os.Getenv("PATH")}
	for _, dir := range []string{"cmd", "pkg", "templates", "examples"} {
		if err := os.CopyFS(filepath.Join(r.dir, dir), os.DirFS(filepath.Join("..", dir))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Dir(binary(t)), filepath.Join(r.dir, "bin")); err != nil { // as after make build
		t.Fatal(err)
	}
	for _, file := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join("..", file))
		if err == nil {
			err = os.WriteFile(filepath.Join(r.dir, file), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func (r reader) shell(ctx context.Context, script string) (printed string, err error) {
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", script) //nolint:gosec // what the pages say
	cmd.Dir, cmd.Env = r.dir, append(os.Environ(), "PATH="+r.path)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (r reader) follow(t *testing.T, b pages.Block) {
	t.Helper()
	if err := b.Save(r.dir); err != nil {
		t.Fatal(err)
	}
	switch {
	case !b.Runs(), b.Info() == "sh ci":
	case b.Words[0] == "sh":
		printed, err := r.shell(t.Context(), b.Text)
		if err != nil {
			t.Fatalf("%s: %v\n%s", b.At, err, printed)
		}
		t.Logf("%s:\n%s", b.At, printed)
	case b.Words[0] == "console":
		for _, e := range b.Exchanges() {
			r.converse(t, b.At, e)
		}
	}
}

// converse runs a command and compares what it prints; who only looks, looks
// again until it is there.
func (r reader) converse(t *testing.T, at string, e pages.Exchange) {
	t.Helper()
	var printed string
	err := wait.PollUntilContextTimeout(t.Context(), time.Second, patient(3*time.Minute), true, func(ctx context.Context) (bool, error) {
		printed, _ = r.shell(ctx, e.Command) // it may be about a failure
		if pages.Timeless(printed) == pages.Timeless(e.Prints) {
			return true, nil
		}
		if !strings.HasPrefix(e.Command, "kubectl get ") {
			return false, errors.New("another time would be another thing")
		}
		return false, nil
	})
	if err != nil {
		t.Fatalf("%s: $ %s\nthe page says\n%s\nand there is\n%s", at, e.Command, e.Prints, printed)
	}
}
