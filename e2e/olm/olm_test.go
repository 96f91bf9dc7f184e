// Package olm asks the operator-framework's own library whether an operator of
// ours can be a bundle of the Operator Lifecycle Manager. It cannot, as
// docs/how-to/olm.md says; if a test fails here, rewrite the
// page. It is a module of its own, so that argoperator does not depend
// on that library.
package olm

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/operator-framework/operator-registry/pkg/lib/bundle"
	"github.com/sirupsen/logrus"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

const root = "../.."

// objects are those of an example, without a namespace: the installer of a bundle chooses it.
func objects(t *testing.T, example string) []*unstructured.Unstructured {
	t.Helper()
	cmd := exec.Command(root+"/bin/argoperator", "generate", "-f", filepath.Join(root, "examples", example))
	cmd.Stderr = os.Stderr
	stream, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(stream), 4096)
	var list []*unstructured.Unstructured
	for {
		one := &unstructured.Unstructured{}
		if err := decoder.Decode(one); errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		one.SetNamespace("")
		list = append(list, one)
	}
}

// csv is a ClusterServiceVersion for what owns its kind and brings no Deployment.
func csv(t *testing.T, crd *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	kind, _, err := unstructured.NestedString(crd.Object, "spec", "names", "kind")
	if err != nil {
		t.Fatal(err)
	}
	supported := map[string]any{"OwnNamespace": true, "SingleNamespace": true, "MultiNamespace": false, "AllNamespaces": true}
	var modes []any
	for mode, ok := range supported {
		modes = append(modes, map[string]any{"type": mode, "supported": ok})
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
		"metadata": map[string]any{"name": "memcached-operator.v0.1.0"},
		"spec": map[string]any{
			"displayName": "Memcached", "version": "0.1.0", "installModes": modes,
			"install": map[string]any{"strategy": "deployment", "spec": map[string]any{"deployments": []any{}}},
			"customresourcedefinitions": map[string]any{"owned": []any{
				map[string]any{"name": crd.GetName(), "kind": kind, "version": "v1alpha1"},
			}},
		},
	}}
}

// refused are the reasons for which a bundle is refused, one a line.
func refused(t *testing.T, manifests []*unstructured.Unstructured) []string {
	t.Helper()
	dir := t.TempDir()
	for i, one := range manifests {
		data, err := yaml.Marshal(one.Object)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(i)+".yaml"), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	log := logrus.New()
	log.SetOutput(t.Output())
	err := bundle.NewImageValidator(nil, logrus.NewEntry(log)).ValidateBundleContent(dir)
	if err == nil {
		return nil
	}
	wrong := bundle.ValidationError{}
	if !errors.As(err, &wrong) {
		t.Fatal(err)
	}
	var reasons []string
	for _, one := range wrong.Errors {
		before, _, _ := strings.Cut(one.Error(), ": "+dir)
		reasons = append(reasons, before)
	}
	slices.Sort(reasons)
	return slices.Compact(reasons)
}

func ofArgo(one *unstructured.Unstructured) bool {
	return one.GroupVersionKind().Group == "argoproj.io"
}

// A bundle takes the kinds of a list, and no kind of Argo is on it.
func TestBundleRefusesArgo(t *testing.T) {
	var want []string
	for _, kind := range []string{"CronWorkflow", "EventSource", "Sensor", "WorkflowTemplate"} {
		want = append(want, kind+" is not supported type for registryV1 bundle")
	}
	for _, example := range []string{"memcached", "memcached-logic", "memcached-tutorial"} { // one of each engine
		t.Run(example, func(t *testing.T) {
			manifests := objects(t, example)
			manifests = append(manifests, csv(t, manifests[0]))
			if got := refused(t, manifests); !slices.Equal(got, want) {
				t.Errorf("refused: %q\nwant %q", got, want)
			}
		})
	}
}

// Without them nothing is wrong: a Deployment is not what is missing.
func TestBundleWithoutDeployment(t *testing.T) {
	manifests := objects(t, "memcached")
	manifests = append(slices.DeleteFunc(manifests, ofArgo), csv(t, manifests[0]))
	for _, reason := range refused(t, manifests) {
		t.Error(reason)
	}
}
