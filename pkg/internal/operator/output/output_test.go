package output

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
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

// folder is a directory with files.
type folder struct {
	t   *testing.T
	dir string
}

func (p folder) put(name, data string) {
	p.t.Helper()
	file := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(data), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// holds compares the existing files, except for the checksum file.
func (p folder) holds(want map[string]string) {
	p.t.Helper()
	got := map[string]string{}
	err := filepath.WalkDir(p.dir, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, _ := filepath.Rel(p.dir, file)
		data, err := os.ReadFile(file)
		if name != ownedFile {
			got[filepath.ToSlash(name)] = string(data)
		}
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		p.t.Errorf("what is there (-want +got):\n%s", diff)
	}
}

func filesOf(list map[string]string) []File {
	var files []File
	for _, name := range slices.Sorted(maps.Keys(list)) {
		files = append(files, File{Name: name, Data: []byte(list[name])})
	}
	return files
}

func TestWriteDir(t *testing.T) {
	type names = map[string]string
	for _, tt := range []struct {
		name, reason string
		first        names
		then         func(folder)
		second       names
		want         names
		left         []string
	}{
		{
			"again", "the second time over the first",
			names{"1.yaml": "one", "a/2.yaml": "two"},
			nil,
			names{"1.yaml": "uno", "a/2.yaml": "two"},
			names{"1.yaml": "uno", "a/2.yaml": "two"},
			nil,
		},
		{
			"vanished", "what is no longer made goes, with its directory",
			names{"1.yaml": "one", "a/b/2.yaml": "two"},
			nil,
			names{"1.yaml": "one"},
			names{"1.yaml": "one"},
			nil,
		},
		{
			"of the user", "files of the user stay, also beside ours",
			names{"a/1.yaml": "one", "a/2.yaml": "two"},
			func(p folder) { p.put("a/mine.yaml", "mine"); p.put("notes", "mine") },
			names{"1.yaml": "one"},
			names{"1.yaml": "one", "a/mine.yaml": "mine", "notes": "mine"},
			nil,
		},
		{
			"changed, made again", "what is made is as it is made",
			names{"1.yaml": "one"},
			func(p folder) { p.put("1.yaml", "changed") },
			names{"1.yaml": "one"},
			names{"1.yaml": "one"},
			nil,
		},
		{
			"changed, vanished", "what somebody has put work into is not thrown away",
			names{"1.yaml": "one", "2.yaml": "two"},
			func(p folder) { p.put("2.yaml", "changed") },
			names{"1.yaml": "one"},
			names{"1.yaml": "one", "2.yaml": "changed"},
			[]string{"2.yaml"},
		},
		{
			"gone already", "somebody has removed it",
			names{"1.yaml": "one", "2.yaml": "two"},
			func(p folder) { _ = os.Remove(filepath.Join(p.dir, "2.yaml")) },
			names{"1.yaml": "one"},
			names{"1.yaml": "one"},
			nil,
		},
		{
			"the list is hostile", "nothing outside is touched",
			names{"in/1.yaml": "one"},
			func(p folder) { p.put(ownedFile, checksum([]byte("mine"))+"  ../outside\nnonsense\n") },
			names{"in/1.yaml": "one"},
			names{"in/1.yaml": "one"},
			nil,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			parent := t.TempDir()
			folder{t, parent}.put("outside", "mine")
			p := folder{t, filepath.Join(parent, "a", "b")}
			if left, err := WriteDir(p.dir, filesOf(tt.first)); err != nil || len(left) > 0 {
				t.Fatal(left, err)
			}
			if tt.then != nil {
				tt.then(p)
			}
			left, err := WriteDir(p.dir, filesOf(tt.second))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.left, left); diff != "" {
				t.Errorf("%s: left (-want +got):\n%s", tt.reason, diff)
			}
			p.holds(tt.want)
			if data, _ := os.ReadFile(filepath.Join(parent, "outside")); string(data) != "mine" {
				t.Errorf("the file outside holds %q", data)
			}
		})
	}
}

// TestWriteDirTaken covers that no existing file is overwritten, and that nothing is
// written then.
func TestWriteDirTaken(t *testing.T) {
	parent := t.TempDir()
	p := folder{t, filepath.Join(parent, "out")}
	p.put("1.yaml", "mine")
	p.put("2.yaml/is-a-directory", "mine")
	p.put("same.yaml", "same")
	folder{t, parent}.put("elsewhere/4.yaml", "mine")
	if err := os.Symlink(filepath.Join(parent, "elsewhere"), filepath.Join(p.dir, "link")); err != nil {
		t.Skip(err)
	}
	before := map[string]string{"1.yaml": "mine", "2.yaml/is-a-directory": "mine", "same.yaml": "same"}
	_, err := WriteDir(p.dir, filesOf(map[string]string{"1.yaml": "one", "2.yaml": "two", "3.yaml": "three", "same.yaml": "same"}))
	var taken *TakenError
	if !errors.As(err, &taken) {
		t.Fatalf("got %v", err)
	}
	if diff := cmp.Diff([]string{"1.yaml", "2.yaml"}, taken.Names); diff != "" {
		t.Errorf("taken (-want +got):\n%s", diff)
	}
	if err := os.Remove(filepath.Join(p.dir, "link")); err != nil {
		t.Fatal(err)
	}
	p.holds(before)
	if err := os.Symlink(filepath.Join(parent, "elsewhere"), filepath.Join(p.dir, "link")); err != nil {
		t.Fatal(err)
	}
	if _, err := WriteDir(p.dir, filesOf(map[string]string{"link/4.yaml": "four", "link/5.yaml": "five"})); err == nil {
		t.Error("no error for a directory that leads out of it")
	}
	folder{t, filepath.Join(parent, "elsewhere")}.holds(map[string]string{"4.yaml": "mine"})
}

func TestWriteDirWhereAFileStands(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := WriteDir(path, []File{{Name: "1.yaml"}}); err == nil {
		t.Error("no error for a directory that is a file")
	}
	if data, _ := os.ReadFile(path); string(data) != "mine" {
		t.Errorf("the file holds %q", data)
	}
}
