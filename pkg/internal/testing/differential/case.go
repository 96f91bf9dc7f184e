package differential

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing/fstest"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/internal/kube/resource"
	language "github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// Case is a drawn definition with all that happens to its operator.
type Case struct {
	*definition

	schema *resource.Schema // of the custom resources; nil for a kind that is built into Kubernetes
	kinds  []*apiextensionsv1.CustomResourceDefinition
}

// Draw returns a case. choices are those of another case, to repeat or change it; nil:
// the seed decides.
func Draw(seed uint64, choices Choices) (*Case, error) {
	c := &Case{definition: newDefinition(newDrawing(seed, choices))}
	if c.builtin == "" {
		if err := c.describe(); err != nil {
			return nil, fmt.Errorf("seed %d: %w", seed, err)
		}
	}
	return c, nil
}

// Choices returns the choices that the case was made of, so far.
func (c *Case) Choices() Choices { return maps.Clone(c.taken) }

// describe derives the schema of the custom resources from the short form, and the other
// forms of the API.
func (c *Case) describe() error {
	api := c.spec["api"].(map[string]any)
	versions := api["versions"].([]any)
	version := versions[0].(map[string]any)
	if c.form != "short" || len(versions) > 1 || c.rarely("api.status", 3) {
		for _, v := range versions {
			v.(map[string]any)["schema"].(map[string]any)["status"] = map[string]any{"s0": "string", "s1": "string", "number": "integer", "copy": "string"}
		}
	}
	base := map[string]any{"api": api, "children": []any{map[string]any{"name": "c", "template": map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "${ .metadata.name }", "namespace": namespace},
	}}}}
	definitions, findings := language.Parse(source.Input{Name: "base.yaml", Data: document(base)})
	if findings.HasErrors() {
		return fmt.Errorf("the schema has errors: %v\n%s", findings, document(base))
	}
	p, findings := plan.New(definitions[0])
	if findings.HasErrors() {
		return fmt.Errorf("the API has errors: %v\n%s", findings, document(base))
	}
	var err error
	k := p.API.Kind
	c.schema, err = resource.New(resource.Kind{
		Group: k.Group, Version: k.Version, Kind: k.Kind, Namespaced: k.Namespaced, Status: k.StatusSubresource,
	}, definitions[0].Schema("v1"))
	if err != nil {
		return fmt.Errorf("reading the schema: %w", err)
	}
	switch c.form {
	case "openapi":
		delete(version, "schema")
		version["openAPIV3Schema"] = decoded[map[string]any](definitions[0].Schema("v1"))
	case "crd", "existing", "existing-status":
		for _, o := range manifest.Build(p) {
			if crd, ok := o.(*apiextensionsv1.CustomResourceDefinition); ok {
				c.given(crd, len(versions) > 1)
			}
		}
	}
	return nil
}

// given replaces the API by a CustomResourceDefinition.
func (c *Case) given(crd *apiextensionsv1.CustomResourceDefinition, several bool) {
	if c.form == "crd" {
		file := map[string]any{"file": "thing.yaml"}
		if several {
			file["version"] = "v1"
		}
		c.files["thing.yaml"] = &fstest.MapFile{Data: text(decoded[map[string]any](crd))}
		c.spec["api"] = map[string]any{"crd": file}
		return
	}
	c.kinds = append(c.kinds, crd)
	existing := with(c.selected, "group", group, "version", "v1", "kind", kindName, "plural", crd.Spec.Names.Plural)
	if c.cluster {
		existing["scope"] = "Cluster"
	}
	if c.form == "existing-status" {
		existing["status"] = true
	}
	if c.known {
		existing["crd"] = map[string]any{"file": "thing.yaml"}
		delete(existing, "plural")
		delete(existing, "scope")
		c.files["thing.yaml"] = &fstest.MapFile{Data: text(decoded[map[string]any](crd))}
	}
	c.spec["api"] = map[string]any{"existing": existing}
}

// Definition returns the definition with the engine; empty: the default. Only worker has
// shards and groups.
func (c *Case) Definition(engine plan.Engine) []byte {
	spec := maps.Clone(c.spec)
	sections := map[string]map[string]any{}
	for section, keys := range map[string][]string{"reconcile": {"shards"}, "install": {"group", "dedicatedWorker"}} {
		of, _ := spec[section].(map[string]any)
		if of = maps.Clone(of); engine != plan.Worker {
			maps.DeleteFunc(of, func(key string, _ any) bool { return slices.Contains(keys, key) })
		}
		sections[section] = of
	}
	if engine != "" {
		sections["reconcile"] = with(sections["reconcile"], "engine", string(engine))
	}
	for section, of := range sections {
		if spec[section] = of; len(of) == 0 {
			delete(spec, section)
		}
	}
	return document(spec)
}

// Source returns the definition with its files.
func (c *Case) Source(engine plan.Engine) argoperator.Source {
	return argoperator.Source{Name: "operator.yaml", Data: c.Definition(engine), Dir: c.files, Parameters: c.installation}
}

func document(spec map[string]any) []byte {
	return text(map[string]any{
		"apiVersion": v1alpha1.APIVersion, "kind": v1alpha1.Kind, "metadata": map[string]any{"name": "drawn"}, "spec": spec,
	})
}

// customResource draws one of the custom resources.
func (c *Case) customResource(at, name string) (map[string]any, error) {
	out := c.existing(at)
	if c.schema != nil {
		var err error
		switch n := c.pick(at+".sample", 6); n {
		case 0:
			out, err = c.schema.Start()
		case 1:
			out, err = c.schema.Full()
		default:
			out, err = c.schema.Random(rand.New(rand.NewPCG(c.seed, uint64(n))))
		}
		if err != nil {
			return nil, fmt.Errorf("making a custom resource: %w", err)
		}
		c.untyped(at, out)
		out = solid(decoded[map[string]any](out)).(map[string]any)
	}
	metadata := map[string]any{"name": name}
	if given, ok := out["metadata"].(map[string]any); ok && c.schema == nil {
		metadata = with(given, "name", name)
	}
	if !c.cluster {
		metadata["namespace"] = namespace
	}
	labels, annotations := map[string]any{"chosen": "yes"}, map[string]any{"chosen": "yes"}
	if given, ok := metadata["labels"].(map[string]any); ok {
		labels = with(labels, "text", given["text"])
	}
	if given, ok := metadata["annotations"].(map[string]any); ok {
		annotations = with(annotations, "text", given["text"])
	}
	if tier := oneOf(c.drawing, at+".tier", "", "x", "y"); tier != "" {
		labels["tier"] = tier
	}
	if c.rarely(at+".note", 3) {
		annotations["note"] = "a note"
	}
	metadata["labels"], metadata["annotations"] = labels, annotations
	out["metadata"] = metadata
	return out, nil
}

// untyped sets the fields of any type to values that templates can use.
func (c *Case) untyped(at string, cr map[string]any) {
	spec, _ := cr["spec"].(map[string]any)
	for i, f := range c.fields {
		name := "f" + strconv.Itoa(i)
		if f.name != "open" && f.name != "any" || spec == nil {
			continue
		}
		values := []any{
			nil, map[string]any{"a": "b"}, map[string]any{"containers": []any{map[string]any{
				"name":  "main",
				"image": "docker.io/library/busybox:1.37",
			}}},
		}
		if f.name == "any" {
			values = append(values, "text", int64(5), []any{"a", "b"}, true)
		}
		if spec[name] = oneOf(c.drawing, at+"."+name, values...); spec[name] == nil {
			delete(spec, name)
		}
	}
}

// existing draws an object of a kind that Kubernetes has.
func (c *Case) existing(at string) map[string]any {
	words := oneOf(c.drawing, at+".text", "", "a", "long-text")
	texts := map[string]any{}
	if words != "" {
		texts["text"] = words
	}
	switch c.builtin {
	case "StatefulSet", "Deployment":
		spec := map[string]any{
			"replicas": int64(c.pick(at+".replicas", 4)),
			"selector": map[string]any{"matchLabels": map[string]any{"app": "a"}},
			"template": map[string]any{
				"metadata": map[string]any{"labels": map[string]any{"app": "a"}},
				"spec":     map[string]any{"containers": []any{map[string]any{"name": "main", "image": "docker.io/library/busybox:1.37"}}},
			},
		}
		if c.builtin == "StatefulSet" {
			spec["serviceName"] = "headless"
		}
		return map[string]any{"apiVersion": "apps/v1", "kind": c.builtin, "metadata": map[string]any{"annotations": texts}, "spec": spec}
	case "ConfigMap":
		out := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"labels": texts}}
		if words != "" {
			out["data"] = texts
		}
		return out
	case "Namespace":
		return map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"labels": texts, "annotations": texts}}
	}
	return nil
}

// othersObjects are the objects that exist before the custom resource: those that related
// entries and patches refer to.
func (c *Case) othersObjects() []map[string]any {
	configMap := func(name, team, value string) map[string]any {
		return map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{
				"name": name, "namespace": namespace,
				"labels": map[string]any{"team": team},
			},
			"data": map[string]any{"value": value},
		}
	}
	var out []map[string]any
	if c.related != "" {
		out = append(out, configMap("settings", "x", "one"), configMap("extra", "y", "two"))
	}
	if patches, ok := c.spec["patches"].([]any); ok {
		for _, name := range []string{shared, shared + "-one", shared + "-two"} {
			o := configMap(name, "z", "kept")
			o["apiVersion"], o["kind"] = at(patches[0], "template", "apiVersion"), at(patches[0], "template", "kind")
			out = append(out, o)
		}
	}
	return out
}

// text encodes a value as YAML.
func text(value any) []byte {
	data, err := yaml.Marshal(value)
	if err != nil {
		panic(err) // unreachable: plain data
	}
	return data
}

// decoded returns a value as decoded from JSON.
func decoded[T any](value any) T {
	var out T
	data, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		panic(err) // unreachable: plain data
	}
	return out
}

// solid returns a value without nulls and empty mappings, which a user does not write
// and server-side apply leaves behind.
func solid(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key := range v {
			v[key] = solid(v[key])
			if inner, mapping := v[key].(map[string]any); v[key] == nil || mapping && len(inner) == 0 {
				delete(v, key)
			}
		}
	case []any:
		for i := range v {
			v[i] = solid(v[i])
		}
	}
	return value
}

// Seed returns the seed of the case.
func (c *Case) Seed() uint64 { return c.seed }

// Spec returns the part spec of the definition.
func (c *Case) Spec() map[string]any { return c.spec }

// Kinds returns the kinds that exist before the operator.
func (c *Case) Kinds() []*apiextensionsv1.CustomResourceDefinition { return c.kinds }
