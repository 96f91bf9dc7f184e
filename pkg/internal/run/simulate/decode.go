package simulate

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
	"github.com/argoperator/argoperator/pkg/internal/kube/resource"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// Decode reads the documents of a file as objects and skips empty documents.
func Decode(data []byte) ([]map[string]any, error) {
	var out []map[string]any
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for i := 1; ; i++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", i, err)
		}
		text, err := yaml.YAMLToJSONStrict(document)
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", i, err)
		}
		var fields map[string]any
		if err := json.Unmarshal(text, &fields); err != nil {
			return nil, fmt.Errorf("document %d is not an object", i)
		}
		if fields != nil {
			out = append(out, fields)
		}
	}
}

// Resources are the resources that an operator's EventSources watch.
type Resources struct {
	list   []schema.GroupVersionResource
	kinds  *cluster.Kinds
	served map[schema.GroupVersionKind]bool // according to the CustomResourceDefinitions among the objects
}

// Watched returns the resources that the operators watch as primary resources,
// which are the ones without a filter, and not as children. The kinds are those of
// Inputs.
func Watched(objects []manifest.Object, described []*apiextensionsv1.CustomResourceDefinition) Resources {
	known := &cluster.Kinds{List: append(cluster.BuiltinKinds(), cluster.CustomKinds(objects, described)...)}
	served := map[schema.GroupVersionKind]bool{}
	for _, o := range objects {
		if crd, ok := o.(*apiextensionsv1.CustomResourceDefinition); ok {
			for _, v := range crd.Spec.Versions {
				served[schema.GroupVersionKind{Group: crd.Spec.Group, Version: v.Name, Kind: crd.Spec.Names.Kind}] = v.Served
			}
		}
	}
	return Resources{list: cluster.Unfiltered(objects), kinds: known, served: served}
}

// Contains reports whether an object belongs to one of these resources, and
// describes the object. The API server accepts a custom resource in any served
// version and returns it in the watched one.
func (r Resources) Contains(fields map[string]any) (what string, ok bool) {
	o := &unstructured.Unstructured{Object: fields}
	gvk := o.GroupVersionKind()
	if gvk.Kind == "" || gvk.Version == "" {
		return "no object with an apiVersion and a kind", false
	}
	k := r.kinds.Of(gvk, r.list)
	return gvk.Kind + " of " + gvk.GroupVersion().String(), slices.ContainsFunc(r.list, func(watched schema.GroupVersionResource) bool {
		return watched.Group == gvk.Group && watched.Resource == k.Plural && (watched.Version == gvk.Version || r.served[gvk])
	})
}

// Samples returns one custom resource with all fields of its schema for each kind
// that the operators define and watch, in a namespace that they watch.
func Samples(objects []manifest.Object) ([]map[string]any, error) {
	var out []map[string]any
	for _, o := range objects {
		crd, ok := o.(*apiextensionsv1.CustomResourceDefinition)
		if !ok {
			continue
		}
		version, namespace := watchedVersion(objects, crd)
		if version == "" {
			continue
		}
		fields, err := resource.FromCRD(crd, version)
		if err != nil {
			return nil, err
		}
		sample, err := fields.Full()
		if err != nil {
			return nil, err
		}
		if namespace != "" {
			(&unstructured.Unstructured{Object: sample}).SetNamespace(namespace)
		}
		out = append(out, sample)
	}
	if len(out) == 0 {
		return nil, errors.New("the schema of the custom resource is unknown")
	}
	return out, nil
}

// watchedVersion returns the version in which the EventSources watch a kind as the
// primary resource, and the namespace if they watch only one.
func watchedVersion(objects []manifest.Object, crd *apiextensionsv1.CustomResourceDefinition) (version, namespace string) {
	for _, o := range objects {
		source, ok := o.(*eventsv1.EventSource)
		if !ok {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(source.Spec.Resource)) {
			e := source.Spec.Resource[name]
			if e.Filter == nil && e.Group == crd.Spec.Group && e.Resource == crd.Spec.Names.Plural {
				return e.Version, e.Namespace
			}
		}
	}
	return "", ""
}

func (r Resources) String() string {
	var all []string
	for _, one := range r.list {
		all = append(all, one.Resource+" of "+one.GroupVersion().String())
	}
	return strings.Join(all, ", ")
}
