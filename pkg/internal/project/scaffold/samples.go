package scaffold

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/base/article"
	"github.com/argoperator/argoperator/pkg/internal/kube/resource"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// Sample is an example custom resource.
type Sample struct {
	File string // its path in the project
	Name string // of the custom resource
	// Condition compares JSON with what a ConfigMap has of the custom resource; empty: unknown.
	Condition string
	data      []byte
}

// learn fills in the facts from the parsed definition. It returns a note for each
// sample that could not be generated.
func (p *page) learn(d *definition.Definition, findings diag.List) (notes []string, err error) {
	api := d.Operator.Spec.API
	plural := api.Plural
	if crd := d.GivenCRD(); crd != nil {
		plural = crd.Spec.Names.Plural
	}
	p.Resource = plural + "." + p.API.Group
	if p.Samples, notes, err = samples(d, p.API); err != nil {
		return nil, err
	}
	p.Sample = p.Samples[0]
	if children := d.Operator.Spec.Children; len(children) > 0 {
		p.Child = strings.ToLower(children[0].Kind) + "/" + p.Sample.Name
		if len(p.Children) > 0 {
			p.Child = strings.ToLower(children[0].Kind) + "/" + p.Sample.Name + p.Children[0].Suffix
		}
	}
	p.Others = len(servedVersions(d)) > 1
	for _, f := range findings {
		if f.Code == diag.TooLarge {
			p.Apply = " --server-side"
		}
	}
	if builtin, taken := schema.FindBuiltinNamed(p.API.Kind); taken {
		notes = append(
			notes,
			fmt.Sprintf(
				"every cluster also has %s of %s; to kubectl, the new one is %s",
				article.With(p.API.Kind),
				builtin.APIVersion(),
				p.Resource,
			),
		)
	}
	return notes, nil
}

// samples returns custom resources of every served version, the operator's version
// first. A new kind gets one with all fields; an existing kind, which may have
// hundreds, gets one with the required fields and one with all.
func samples(d *definition.Definition, api API) (out []Sample, notes []string, err error) {
	name := strings.ToLower(api.Kind)
	working := d.WorkingVersion()
	if d.GivenCRD() == nil {
		out, err := onlySample(d, api, "samples/"+name+".yaml")
		return out, nil, err
	}
	add := func(version, file string, make func(*resource.Schema) (map[string]any, error)) {
		s, err := sample(d, api, version, make)
		if err != nil {
			notes = append(notes, fmt.Sprintf("%s is missing: %v", file, err))
			return
		}
		s.File = file
		if len(out) == 0 || !bytes.Equal(s.data, out[0].data) {
			out = append(out, s)
		}
	}
	add(working, "samples/"+name+".yaml", (*resource.Schema).Minimal)
	if len(out) == 0 {
		out = append(out, bare(api, working, "samples/"+name+".yaml"))
		notes[0] = fmt.Sprintf("fill in %s: %s", out[0].File, strings.TrimPrefix(notes[0], out[0].File+" is missing: "))
	}
	add(working, "samples/"+name+"-full.yaml", (*resource.Schema).Full)
	for _, version := range servedVersions(d) {
		if version != working {
			add(version, "samples/"+name+"-"+version+".yaml", (*resource.Schema).Minimal)
		}
	}
	return out, notes, nil
}

// onlySample returns the sample of a new kind.
func onlySample(d *definition.Definition, api API, file string) ([]Sample, error) {
	make := (*resource.Schema).Full
	if api.Sample != "" {
		make = withDefaults
	}
	s, err := sample(d, api, d.WorkingVersion(), make)
	s.File = file
	return []Sample{s}, err
}

// servedVersions returns the served versions of a given CustomResourceDefinition.
func servedVersions(d *definition.Definition) []string {
	var out []string
	crd := d.GivenCRD()
	if crd == nil {
		return nil
	}
	for _, v := range crd.Spec.Versions {
		if v.Served {
			out = append(out, v.Name)
		}
	}
	return out
}

// sample generates one custom resource without a namespace, so that kubectl's
// default applies.
func sample(d *definition.Definition, api API, version string, make func(*resource.Schema) (map[string]any, error)) (Sample, error) {
	schema, err := resource.New(resource.Kind{
		Group: api.Group, Version: version, Kind: api.Kind, Namespaced: !api.Cluster, Status: true,
	}, d.Schema(version))
	if err != nil {
		return Sample{}, err
	}
	object, err := make(schema)
	if err != nil {
		return Sample{}, err
	}
	metadata, _ := object["metadata"].(map[string]any)
	delete(metadata, "namespace")
	if api.Sample != "" {
		metadata["name"] = api.Sample
	}
	name, _ := metadata["name"].(string)
	data, err := yaml.Marshal(object)
	if err != nil {
		return Sample{}, fmt.Errorf("writing a sample: %w", err)
	}
	condition, err := condition(schema.Defaulted(object), api.NoSpec)
	return Sample{Name: name, Condition: condition, data: data}, err
}

// condition returns an expectation of the JSON in the ConfigMap of a custom resource.
func condition(object map[string]any, noSpec bool) (string, error) {
	shown, ok := object["spec"]
	if !ok {
		shown = map[string]any{}
	}
	if noSpec {
		shown = without(object, "apiVersion", "kind", "metadata", "status")
	}
	text, err := json.Marshal(shown)
	if err != nil {
		return "", fmt.Errorf("writing the JSON of a sample: %w", err)
	}
	return "${ fromjson == " + string(text) + " }", nil
}

func without(object map[string]any, keys ...string) map[string]any {
	out := maps.Clone(object)
	for _, key := range keys {
		delete(out, key)
	}
	return out
}

// withDefaults generates an object that contains the defaults.
func withDefaults(s *resource.Schema) (map[string]any, error) {
	object, err := s.Minimal()
	if err == nil {
		s.Default(object)
	}
	return object, err
}

// bare returns a custom resource to be filled in.
func bare(api API, version, file string) Sample {
	text := fmt.Sprintf(
		"apiVersion: %s/%s\nkind: %s\nmetadata:\n  name: sample\n# fill in: argoperator found no valid example\n",
		api.Group,
		version,
		api.Kind,
	)
	return Sample{File: file, Name: "sample", data: []byte(text)}
}
