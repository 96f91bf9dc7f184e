package argoperator

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/lang/shortschema"
	"github.com/argoperator/argoperator/pkg/internal/operator/output"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// Regular expressions for the values of a chart.
const (
	dnsLabel = "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"
	image    = "^[a-zA-Z0-9][a-zA-Z0-9._/:@-]*$"
	address  = "^https?://[a-zA-Z0-9._:/-]+$"
)

// Outputs returns the operators for output formats that need only the objects.
func (r Result) Outputs() []output.Operator {
	var list []output.Operator
	for _, o := range r.Bundles() {
		list = append(list, output.Operator{Name: o.Name, Objects: o.Objects})
	}
	return list
}

// ErrGroupedChart is the error for charts of operators with install.group: a release of
// one of them could not hold what they share.
var ErrGroupedChart = errors.New("charts do not support operators with install.group")

// Charts returns the operators for output formats with configurable values. version
// is the semantic version of the charts.
func (r Result) Charts(version string) ([]output.Operator, error) {
	if len(r.Groups) > 0 {
		return nil, ErrGroupedChart
	}
	list := r.Outputs()
	for i, o := range r.Operators {
		chart, err := o.chart(version)
		if err == nil && len(o.definition.Parameters) > 0 {
			list[i].Objects, err = o.withEncodedParameters()
		}
		if err != nil {
			return nil, fmt.Errorf("the chart of operator %s: %w", o.Name, err)
		}
		list[i].Chart = chart
	}
	return list, nil
}

// withEncodedParameters builds the operator again with the parameters in the form of a chart.
func (o Operator) withEncodedParameters() ([]manifest.Object, error) {
	local := *o.definition
	local.Parameters = encodedParameters(local.Parameters, func(int) string { return "" })
	p, findings := plan.New(&local)
	if findings.HasErrors() {
		return nil, fmt.Errorf("with encoded parameters: %s", findings[0].Message)
	}
	return manifest.Build(p), nil
}

// encodedParameters returns the parameters as white space and their JSON in base64.
func encodedParameters(parameters map[string]definition.Parameter, space func(i int) string) map[string]definition.Parameter {
	out := maps.Clone(parameters)
	for i, name := range slices.Sorted(maps.Keys(out)) {
		p := out[name]
		p.Encoded = base64.StdEncoding.EncodeToString(append([]byte(space(i)), shortschema.RawJSON(p.Value).Raw...))
		out[name] = p
	}
	return out
}

// openParameters replaces the parameters of a definition by placeholders. These have the
// values, too, so that nothing else changes: white space before the JSON tells them apart.
func openParameters(d *definition.Definition) []output.Value {
	var values []output.Value
	plain := encodedParameters(d.Parameters, func(int) string { return "" })
	d.Parameters = encodedParameters(d.Parameters, func(i int) string {
		return strings.NewReplacer("0", " ", "1", "\t").Replace(fmt.Sprintf("%024b", i))
	})
	for _, name := range slices.Sorted(maps.Keys(plain)) {
		p := plain[name]
		values = append(values, output.Value{
			Path: "parameters." + name, Default: p.Encoded, Placeholder: d.Parameters[name].Encoded,
			Description: cmp.Or(strings.Join(strings.Fields(p.Schema.Description), " "), "Parameter "+name+" of the operator."),
			JSON:        &output.JSONValue{Default: p.Value, Schema: shortschema.JSONSchema(p.Schema)},
		})
	}
	return values
}

// chart builds the operator again with placeholders for the values.
func (o Operator) chart(version string) (output.Chart, error) {
	adjusted, values := standIns(o.definition)
	p, findings := plan.New(adjusted)
	if findings.HasErrors() {
		return output.Chart{}, fmt.Errorf("with stand-ins: %s", findings[0].Message)
	}
	adjustable := manifest.Build(p)
	mark(p)
	return output.Chart{
		Version:     version,
		Description: fmt.Sprintf("Operator for %s (%s) on Argo Events and Argo Workflows", o.plan.API.Kind.Plural, o.plan.API.Kind.Group),
		Notes:       o.notes(),
		Adjustable:  adjustable,
		Marked:      manifest.Build(p),
		Values:      values,
		Fields:      podFields(o.plan),
	}, nil
}

// standIns replaces the configurable fields of a definition by placeholders.
func standIns(d *definition.Definition) (*definition.Definition, []output.Value) {
	local := *d
	spec := &local.Operator.Spec
	var values []output.Value
	open := func(path, standIn, pattern, description string, places ...*string) {
		values = append(
			values,
			output.Value{Path: path, Default: *places[0], Placeholder: standIn, Pattern: pattern, Description: description},
		)
		for _, place := range places {
			*place = standIn
		}
	}
	open(
		"namespace",
		"argoperator-value-namespace",
		"^$|"+dnsLabel,
		"Namespace of the operator, which must contain an EventBus. Default: the namespace of the release.",
		&spec.Install.Namespace,
	)
	open("eventBus.name", "argoperator-value-bus", dnsLabel, "Name of the EventBus.", &spec.Install.EventBus.Name)
	runtime := []*string{&spec.Install.RuntimeImage}
	if spec.Logic != nil {
		logic := *spec.Logic
		spec.Logic = &logic
		images := []*string{&logic.Image}
		if logic.Image == spec.Install.RuntimeImage {
			images, runtime = append(images, runtime...), nil
		}
		open("image.logic", "argoperator-value/logic", image, "Image that runs the logic.", images...)
	}
	if len(runtime) > 0 {
		open(
			"image.runtime",
			"argoperator-value/runtime",
			image,
			"Image of the steps of the operator, with Python 3.9 or later.",
			runtime...)
	}
	if spec.Install.ArgoServerURL != "" {
		spec.Install.ArgoServerURL = strings.TrimSuffix(spec.Install.ArgoServerURL, "/") // same form as in the links
		open(
			"argoServerURL",
			"https://argoperator-value",
			address,
			"URL of the Argo user interface, for links in the status.",
			&spec.Install.ArgoServerURL,
		)
	}
	return &local, append(values, openParameters(&local)...)
}

// notes returns the text that helm prints after the installation.
func (o Operator) notes() string {
	resource := o.plan.API.Kind.Plural
	if group := o.plan.API.Kind.Group; group != "" {
		resource += "." + group
	}
	namespace := "{{include `" + o.Name + ".namespace` .}}"
	text := fmt.Sprintf(`The operator %[1]s is installed. Its pods start in namespace %[3]s.

  kubectl -n %[3]s get eventsources,sensors,workflows
  kubectl get %[2]s -A
`, o.Name, resource, namespace)
	if (Result{Operators: []Operator{o}}).defines(o.plan.API.Kind) {
		text += fmt.Sprintf(`
Before you uninstall the release, delete the custom resources: the operator must be running for that.

  kubectl delete %s -A --all
`, resource)
	}
	return text
}
