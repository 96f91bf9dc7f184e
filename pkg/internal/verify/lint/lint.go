// Package lint checks manifests that argoperator did not generate: those of Argo
// Events and Argo Workflows, with their roles, ConfigMaps and
// CustomResourceDefinitions.
//
// The rule of this package: an object that is not among the files may exist in the
// cluster, so no rule reports it as missing. Comments and the configuration can
// suppress findings.
package lint

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"go.yaml.in/yaml/v3"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
	"github.com/argoperator/argoperator/pkg/internal/verify/lint/accept"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// ContainsManifest reports whether a file contains an object that lint checks. In a directory
// that is one of Argo: others are checked if one of Argo refers to them.
func ContainsManifest(in source.Input) bool {
	if in.Lenient {
		return mentionsArgo(string(in.Data))
	}
	in.Lenient = true
	objects, found := source.Objects(in, source.NotEmpty)
	for _, o := range objects {
		if o.Group() == argo.Group || o.Group() == "rbac.authorization.k8s.io" || nearMiss(o) != nil {
			return true
		}
	}
	return found.HasErrors() && mentionsArgo(string(in.Data))
}

// IsList reports whether a file consists of lists of objects, as kubectl prints them.
func IsList(in source.Input) bool { return source.IsList(in) }

// subject is an object to check, and what findings need to know of its text. The text is read again to place
// them: the nodes of all files take more memory than all the rest.
type subject struct {
	object manifest.Object

	file       *source.Input
	nth        int // among the objects of the file
	line       int
	kind, name string
	shown      string // its name as kubectl prints it
	newer      bool   // it has fields that Argo's validators here do not know
	generated  bool
	accepted   bool
}

// located is a problem of an object as a finding.
type located struct {
	diag.Finding
	in   *subject
	path string
}

// reader reads the objects of files again. It keeps those of one file, because subjects are in the order of files.
type reader struct {
	file    *source.Input
	objects []source.Object
}

func (r *reader) read(s *subject) source.Object {
	if r.file != s.file {
		r.file = s.file
		r.objects, _ = source.Objects(*s.file, source.NotEmpty)
	}
	return r.objects[s.nth]
}

// Manifests checks the objects of all files together. Objects that are not in the
// files may be in the cluster and are not reported. The configuration may be nil.
func Manifests(files []source.Input, config *Config) (diag.List, Skipped) {
	all := run(files, config)
	return all.findings, all.skipped
}

// results are all findings in a set of files.
type results struct {
	findings diag.List       // the reported ones
	problems []located       // those that the configuration allows
	broken   map[string]bool // files with invalid YAML
	skipped  Skipped
}

func run(files []source.Input, config *Config) results {
	chosen := choose(files, config)
	all := results{broken: map[string]bool{}, skipped: chosen.skipped}
	var subjects []*subject
	var candidates []candidate
	var problems []located
	texts := chosen.argo
	add := func(c candidate) {
		problems = append(problems, c.problems...)
		if c.object != nil {
			subjects = append(subjects, c.subject)
		}
	}
	refer := newReferences()
	for n, of := range readAll(chosen.argo, config.targets(), refer) {
		all.findings = append(all.findings, of.found...)
		all.broken[chosen.argo[n].Name] = of.found.HasErrors()
		candidates = append(candidates, of.others...)
		for _, c := range of.argo {
			add(c)
		}
	}
	for _, file := range chosen.others {
		candidates = append(candidates, refer.candidates(file, config.targets(), &all.skipped)...)
		texts = append(texts, file)
	}
	for _, c := range refer.to(candidates, &all.skipped) {
		add(c)
		all.findings = append(all.findings, c.found...)
	}
	all.skipped.Checked = filesOf(subjects, all.findings)
	all.findings = config.applied(all.findings)
	list := make([]manifest.Object, len(subjects))
	for i, s := range subjects {
		list[i] = s.object
	}
	profile := config.profile()
	profile.patched = chosen.patched
	var again reader
	for i, wrong := range check(list, profile) {
		if len(wrong) > 0 {
			problems = append(problems, subjects[i].locate(wrong, again.read(subjects[i]))...)
		}
	}
	all.problems = config.apply(problems)
	for _, p := range all.problems {
		all.findings = append(all.findings, p.Finding)
	}
	all.findings = withoutAccepted(texts, subjects, all.findings).Sorted()
	return all
}

// reading is what a file has.
type reading struct {
	argo   []candidate
	others []candidate // which are checked if one of Argo refers to them
	found  diag.List
}

// readAll reads files side by side, and records what their objects refer to.
func readAll(files []source.Input, targets Targets, refer *references) []reading {
	out := make([]reading, len(files))
	sideBySide(len(files), func(n int) { out[n] = readOne(&files[n], targets, refer) })
	return out
}

// sideBySide calls do for the numbers below count, on all processors.
func sideBySide(count int, do func(n int)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), count) {
		all.Go(func() {
			for n := int(next.Add(1)) - 1; n < count; n = int(next.Add(1)) - 1 {
				do(n)
			}
		})
	}
	all.Wait()
}

func readOne(file *source.Input, targets Targets, refer *references) reading {
	objects, found := source.Objects(*file, source.NotEmpty)
	out := reading{found: found}
	for n, o := range objects {
		c := newCandidate(file, n, o, targets)
		if file.Lenient && o.Group() != argo.Group && nearMiss(o) == nil {
			out.others = append(out.others, c)
			continue
		}
		refer.add(o, c.object)
		out.argo = append(out.argo, c)
	}
	return out
}

// filesOf counts the files of objects and findings.
func filesOf(subjects []*subject, findings diag.List) int {
	files := map[string]bool{}
	for _, s := range subjects {
		files[s.file.Name] = true
	}
	for _, f := range findings {
		files[f.File] = true
	}
	return len(files)
}

// withoutAccepted returns the findings that no comment in the files accepts.
func withoutAccepted(files []source.Input, subjects []*subject, findings diag.List) diag.List {
	var options accept.Options
	for _, rule := range Rules() {
		options.Codes = append(options.Codes, rule.Code)
	}
	for _, s := range subjects {
		options.Objects = append(options.Objects, diag.Position{File: s.file.Name, Line: s.line})
	}
	var texts []accept.File
	for _, file := range files {
		texts = append(texts, accept.File{Name: file.Name, Data: file.Data})
	}
	return accept.Without(texts, findings, options)
}

// candidate is an object with the problems of its text.
type candidate struct {
	*subject
	problems []located
	found    diag.List
}

func newCandidate(file *source.Input, nth int, o source.Object, targets Targets) candidate {
	object, problems, newer := decode(o, targets)
	if p := nearMiss(o); p != nil {
		problems = append(problems, *p)
	}
	s := &subject{
		object: object, file: file, nth: nth, line: o.Position("").Line, kind: o.Text("kind"), name: o.Text("metadata", "name"),
		shown: nameOf(o), newer: newer, generated: isGenerated(o), accepted: isAccepted(o),
	}
	return candidate{subject: s, problems: s.locate(problems, o)}
}

// booleanWord returns the word of a value that has to be a text and that YAML reads as a boolean, such
// as n; "" if there is none.
func booleanWord(p problem.Problem, written source.Object) string {
	if p.Code != CodeWrongFieldType {
		return ""
	}
	_, value := written.Entry(p.Path)
	if value == nil || value.Kind != yaml.ScalarNode || value.Style != 0 || !isBoolean().MatchString(value.Value) {
		return ""
	}
	return value.Value
}

// isBoolean matches the words that kubectl reads as booleans, but for true and false.
var isBoolean = lazily(`^(?i:y|n|yes|no|on|off)$`)

// locate returns problems of the object as findings at the keys of their fields. It drops
// what the user cannot change.
func (s *subject) locate(problems []problem.Problem, written source.Object) []located {
	if s.generated {
		return nil
	}
	var out []located
	for _, p := range problems {
		if s.accepted && slices.Contains([]string{CodeUnknownManifestField, CodeWrongFieldType, CodeInvalidManifest}, p.Code) {
			continue
		}
		if s.newer && p.Code == CodeInvalidManifest {
			continue
		}
		severity := diag.Error
		if p.Warning {
			severity = diag.Warning
		}
		f := diag.Finding{Position: written.KeyPosition(p.Path), Severity: severity, Code: p.Code, Message: p.Message, Hint: p.Hint}
		if word := booleanWord(p, written); word != "" {
			f.Hint = "write '" + word + "': YAML reads " + word + " as a boolean"
		}
		if s.file.Name == "-" {
			f.Object = s.shown
		}
		out = append(out, located{f, s, p.Path})
	}
	return out
}
