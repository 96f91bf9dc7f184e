package output

import (
	"path"
	"strings"

	"github.com/argoperator/argoperator/pkg/manifest"
)

// kustomization is the content of a kustomization.yaml. It keeps the order of the
// resources, which kustomize would change by default.
type kustomization struct {
	APIVersion  string      `json:"apiVersion"`
	Kind        string      `json:"kind"`
	Resources   []string    `json:"resources"`
	SortOptions sortOptions `json:"sortOptions"`
}

type sortOptions struct {
	Order string `json:"order"`
}

const kustomizationHead = "# Made by argoperator generate -o kustomize. What is changed here is lost the next time:\n# write an overlay that names this directory under resources.\n"

// kustomizeBase returns a base for overlays in the layout of operator projects: crd (a
// base of its own, to install the API alone), rbac, operator, prometheus. Kustomize
// renders the same as the stream.
func kustomizeBase(objects []manifest.Object) ([]File, error) {
	var files []File
	var apis []string
	all := ComponentFiles(objects)
	for i, o := range objects {
		data, err := Marshal(o)
		if err != nil {
			return nil, err
		}
		files = append(files, File{Name: all[i], Data: data})
		if dir, name := path.Split(all[i]); dir == "crd/" {
			apis = append(apis, name)
		}
	}
	lists := []struct {
		dir       string
		resources []string
	}{{"", all}, {"crd", apis}}
	for _, list := range lists {
		if len(list.resources) == 0 && list.dir != "" {
			continue
		}
		data, err := encode(kustomization{
			APIVersion: "kustomize.config.k8s.io/v1beta1", Kind: "Kustomization",
			Resources: list.resources, SortOptions: sortOptions{Order: "fifo"},
		})
		if err != nil {
			return nil, err
		}
		files = append(files, File{Name: path.Join(list.dir, "kustomization.yaml"), Data: append([]byte(kustomizationHead), data...)})
	}
	return files, nil
}

// component returns the directory of an object.
func component(o manifest.Object) string {
	switch o.GetObjectKind().GroupVersionKind().Kind {
	case "CustomResourceDefinition":
		return "crd"
	case "ServiceAccount", "Secret", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding",
		"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding":
		return "rbac"
	case "PrometheusRule":
		return "prometheus"
	}
	return "operator"
}

// ComponentFiles returns the names of the objects' files: the directory of the
// component, then kind and name, and the namespace if several objects have the same
// kind and name.
func ComponentFiles(objects []manifest.Object) []string {
	shared := map[string]int{}
	for _, o := range objects {
		shared[kindAndName(o)]++
	}
	names := make([]string, len(objects))
	for i, o := range objects {
		name := kindAndName(o)
		if shared[name] > 1 && o.GetNamespace() != "" {
			name += "-in-" + o.GetNamespace()
		}
		names[i] = path.Join(component(o), name+".yaml")
	}
	return names
}

func kindAndName(o manifest.Object) string {
	return strings.ToLower(o.GetObjectKind().GroupVersionKind().Kind) + "-" + fileName(o)
}
