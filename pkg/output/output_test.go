package output

import (
	"os"
	"path/filepath"
	"testing"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argoperator/argoperator/pkg/manifest"
)

func TestMarshal(t *testing.T) {
	tests := []struct {
		name, reason string
		object       manifest.Object
		want         string
	}{
		{
			name: "workflow template", reason: "the type writes empty arguments, inputs, outputs, metadata and resources by itself",
			object: &wfv1.WorkflowTemplate{
				TypeMeta:   metav1.TypeMeta{APIVersion: "argoproj.io/v1alpha1", Kind: "WorkflowTemplate"},
				ObjectMeta: metav1.ObjectMeta{Name: "w"},
				Spec: wfv1.WorkflowSpec{
					Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
					Templates: []wfv1.Template{{
						Name: "t", Container: &corev1.Container{Image: "i"},
					}},
				},
			},
			want: `apiVersion: argoproj.io/v1alpha1
kind: WorkflowTemplate
metadata:
  name: w
spec:
  templates:
  - container:
      image: i
    name: t
  volumes:
  - emptyDir: {}
    name: v
`,
		},
		{
			name: "custom resource definition", reason: "an empty status subresource turns it on; defaults are the user's",
			object: &apiextensionsv1.CustomResourceDefinition{
				TypeMeta:   metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
				ObjectMeta: metav1.ObjectMeta{Name: "as.example.com"},
				Spec: apiextensionsv1.CustomResourceDefinitionSpec{
					Group: "example.com", Scope: "Cluster",
					Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: "A", Plural: "as"},
					Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
						Name: "v1", Served: true, Storage: true,
						Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
						Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
							Type: "object", Default: &apiextensionsv1.JSON{Raw: []byte(`{"resources":{},"name":""}`)},
						}},
					}},
				},
			},
			want: `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: as.example.com
spec:
  group: example.com
  names:
    kind: A
    plural: as
  scope: Cluster
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        default:
          name: ""
          resources: {}
        type: object
    served: true
    storage: true
    subresources:
      status: {}
`,
		},
		{
			name: "config map", reason: "an empty file is a file",
			object: &corev1.ConfigMap{
				TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
				ObjectMeta: metav1.ObjectMeta{Name: "c", Labels: map[string]string{"name": ""}},
				Data:       map[string]string{"name": "", "text": "a\nb\n"},
			},
			want: `apiVersion: v1
data:
  name: ""
  text: |
    a
    b
kind: ConfigMap
metadata:
  labels:
    name: ""
  name: c
`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Marshal(tt.object)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("%s:\n%s", tt.reason, diff)
			}
		})
	}
}

func TestWriteDir(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	files := []File{{Name: "1.yaml", Data: []byte("one")}, {Name: "2.yaml", Data: []byte("two")}}
	for range 2 { // the second time over the first
		if err := WriteDir(dir, files); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 2 {
		t.Errorf("%d entries, want the two files and nothing half-written", len(entries))
	}
	if data, _ := os.ReadFile(filepath.Join(dir, "2.yaml")); string(data) != "two" {
		t.Errorf("2.yaml holds %q", data)
	}
}

func TestWriteDirWhereAFileStands(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := WriteDir(path, []File{{Name: "1.yaml"}}); err == nil {
		t.Error("no error for a directory that is a file")
	}
	if data, _ := os.ReadFile(path); string(data) != "mine" {
		t.Errorf("the file holds %q", data)
	}
}
