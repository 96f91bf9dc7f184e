package page

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
	"github.com/argoperator/argoperator/pkg/internal/run/devcluster"
	"github.com/argoperator/argoperator/pkg/internal/run/live"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
	"github.com/argoperator/argoperator/pkg/internal/verify/dryrun"
)

// finding is a finding for the page.
type finding struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Severity string `json:"severity"`
	Code     string `json:"code"`
	Message  string `json:"message"`
	Hint     string `json:"hint"`
}

func findings(list diag.List) []finding {
	out := []finding{}
	for _, f := range list {
		out = append(out, finding{f.File, f.Line, f.Column, string(f.Severity), f.Code, f.Message, f.Hint})
	}
	return out
}

func (s *Server) record(r *http.Request) (any, error) {
	id, err := strconv.Atoi(r.PathValue("id"))
	if err != nil {
		return nil, badRequest("%q is not the number of a record", r.PathValue("id"))
	}
	record, ok := s.in.Live.Record(id)
	if !ok {
		return nil, problem{http.StatusNotFound, "the record is too old: only the newest are kept"}
	}
	return record, nil
}

// reference names an object.
type reference struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
}

func (r reference) object() *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(r.APIVersion)
	o.SetKind(r.Kind)
	o.SetNamespace(r.Namespace)
	o.SetName(r.Name)
	return o
}

func (r reference) about() live.Object {
	return live.Object{Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
}

func (s *Server) object(r *http.Request) (any, error) {
	q := r.URL.Query()
	one := reference{q.Get("apiVersion"), q.Get("kind"), q.Get("namespace"), q.Get("name")}
	o, err := s.in.Installer.Get(r.Context(), one.object())
	if err != nil {
		return nil, problem{http.StatusNotFound, err.Error()}
	}
	events, err := s.in.Installer.Events(r.Context(), o)
	if err != nil {
		return nil, err
	}
	unstructured.RemoveNestedField(o.Object, "metadata", "managedFields")
	text, err := yamlOf(o.Object)
	if err != nil {
		return nil, err
	}
	return map[string]any{"yaml": text, "events": events}, nil
}

// yamlOf returns an object as YAML. Texts can have control characters, which yaml.Marshal
// accepts only as escape sequences.
func yamlOf(fields map[string]any) (string, error) {
	data, err := json.Marshal(fields)
	if err != nil {
		return "", err
	}
	out, err := yaml.JSONToYAML(simulate.EscapeForYAML(data))
	return string(out), err
}

// applied is the result for one object.
type applied struct {
	reference
	Action devcluster.Action `json:"action"`
}

func (s *Server) apply(r *http.Request) (any, error) {
	in, err := input[struct {
		YAML   string `json:"yaml"`
		DryRun bool   `json:"dryRun"`
	}](r)
	if err != nil {
		return nil, err
	}
	found, wrong := decode(in.YAML)
	objects := []applied{}
	if !in.DryRun && len(wrong) == 0 { // all or nothing, as far as the API server can say
		for _, o := range found {
			_, err := s.in.Installer.Write(r.Context(), o.Fields, true)
			wrong = append(wrong, o.findings(err)...)
		}
	}
	for _, o := range found {
		if len(wrong) > 0 && !in.DryRun {
			break
		}
		action, err := s.in.Installer.Write(r.Context(), o.Fields, in.DryRun)
		if err != nil {
			wrong = append(wrong, o.findings(err)...)
			continue
		}
		one := o.reference()
		objects = append(objects, applied{one, action})
		if !in.DryRun && action != devcluster.Unchanged {
			s.in.Live.Act("You applied "+one.about().String(), one.about())
		}
	}
	return map[string]any{"findings": findings(wrong), "objects": objects}, nil
}

func (s *Server) remove(r *http.Request) (any, error) {
	one, err := input[reference](r)
	if err != nil {
		return nil, err
	}
	if err := s.in.Installer.Delete(r.Context(), one.object()); err != nil {
		return nil, problem{http.StatusConflict, err.Error()}
	}
	s.in.Live.Act("You deleted "+one.about().String(), one.about())
	return struct{}{}, nil
}

// edited is a file with other content.
type edited struct {
	Name    string `json:"name"`
	Content string `json:"content"`
	Was     string `json:"was"`
}

func (s *Server) check(r *http.Request) (any, error) {
	in, err := input[edited](r)
	if err != nil {
		return nil, err
	}
	list, err := s.in.Project.Check(in.Name, in.Content)
	return map[string]any{"findings": findings(list)}, err
}

func (s *Server) save(r *http.Request) (any, error) {
	in, err := input[edited](r)
	if err != nil {
		return nil, err
	}
	if err := s.in.Project.Save(in.Name, in.Content, in.Was); err != nil {
		return nil, problem{http.StatusConflict, err.Error()}
	}
	list, err := s.in.Project.Check(in.Name, in.Content)
	return map[string]any{"findings": findings(list), "written": true}, err
}

func (s *Server) schema(r *http.Request) (any, error) {
	q := r.URL.Query()
	if q.Get("of") == "definition" {
		return json.RawMessage(v1alpha1.JSONSchema()), nil
	}
	out, err := s.in.Installer.Schema(r.Context(), q.Get("apiVersion"), q.Get("kind"))
	if errors.Is(err, devcluster.ErrNoSchema) {
		return nil, problem{http.StatusNotFound, err.Error()}
	}
	return out, err
}

func (s *Server) action(r *http.Request) (any, error) {
	in, err := input[struct {
		Action string `json:"action"`
		On     bool   `json:"on"`
		Record int    `json:"record"`
	}](r)
	if err != nil {
		return nil, err
	}
	switch in.Action {
	case "resync":
		s.in.Live.Act("Time passes: the resync runs", live.Object{}, "resync")
		return struct{}{}, s.in.Live.Resync(r.Context())
	case "reset":
		return struct{}{}, s.in.Reset(r.Context())
	case "redeliver":
		if err := s.in.Live.Redeliver(in.Record); err != nil {
			return nil, problem{http.StatusNotFound, err.Error()}
		}
		return struct{}{}, nil
	}
	if err := s.in.Live.Switch(in.Action, in.On); err != nil {
		return nil, badRequest("%v", err)
	}
	s.in.Live.Act(switchTitle(in.Action, in.On), live.Object{})
	s.Changed()
	return struct{}{}, nil
}

// switchTitle says what a switch did.
func switchTitle(name string, on bool) string {
	what := map[string][2]string{
		"sensorDown": {"The Sensors are up again", "The Sensors are down"},
		"loseEvents": {"The event bus keeps events again", "The event bus loses events"},
		"refuse":     {"The API server accepts writes of operators again", "The API server rejects writes of operators"},
		"conflict":   {"Writes of operators conflict no more", "Writes of operators conflict"},
	}[name]
	if on {
		return what[1]
	}
	return what[0]
}

// document is an object in the editor.
type document struct{ source.Object }

// decode reads the objects in the editor.
func decode(text string) ([]document, diag.List) {
	objects, wrong := source.Objects(source.Input{Data: []byte(text)}, source.NotEmpty)
	var out []document
	for _, o := range objects {
		out = append(out, document{o})
	}
	if len(out) == 0 && len(wrong) == 0 {
		wrong.Add(diag.Position{Line: 1, Column: 1}, diag.NoCustomResource, "there is no object", "choose a sample")
	}
	return out, wrong
}

func (d document) reference() reference {
	return reference{
		d.Object.Text("apiVersion"),
		d.Object.Text("kind"),
		d.Object.Text("metadata", "namespace"),
		d.Object.Text("metadata", "name"),
	}
}

// conflict is the code of a finding about an object that changed since it was read. Only
// the page has it, which then offers both texts.
const conflict = "conflict"

// findings returns the reasons of a rejection at the fields that it names.
func (d document) findings(err error) diag.List {
	var out diag.List
	var answer apierrors.APIStatus
	switch {
	case err == nil:
	case apierrors.IsConflict(err):
		out.Add(d.Position("metadata.resourceVersion"), conflict, err.Error(), "")
	case !errors.As(err, &answer):
		out.Add(d.Position("kind"), diag.ServerRejected, err.Error(), "")
	default:
		for _, p := range dryrun.Problems(answer.Status()) {
			out.Add(d.Position(cmp.Or(p.Path, "kind")), diag.ServerRejected, p.Text(), "")
		}
	}
	return out
}
