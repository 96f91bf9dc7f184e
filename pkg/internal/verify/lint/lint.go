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

// subject is an object to check and its source.
type subject struct {
	file    string
	written source.Object
	object  manifest.Object
	newer   bool // it has fields that Argo's validators here do not know
}

// located is a problem of an object as a finding.
type located struct {
	diag.Finding
	in   subject
	path string
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
	var subjects []subject
	var candidates []candidate
	var problems []located
	texts := chosen.argo
	add := func(c candidate) {
		problems = append(problems, c.locate(c.problems)...)
		if c.object != nil {
			subjects = append(subjects, c.subject)
		}
	}
	var refer references
	for n, of := range readAll(chosen.argo, config.targets()) {
		file := chosen.argo[n]
		all.findings = append(all.findings, of.found...)
		all.broken[file.Name] = of.found.HasErrors()
		for _, c := range of.candidates {
			if file.Lenient && c.written.Group() != argo.Group && nearMiss(c.written) == nil {
				candidates = append(candidates, c)
				continue
			}
			refer.add(c)
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
	for i, wrong := range Objects(list, profile) {
		problems = append(problems, subjects[i].locate(wrong)...)
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
	candidates []candidate
	found      diag.List
}

// readAll reads files side by side.
func readAll(files []source.Input, targets Targets) []reading {
	out := make([]reading, len(files))
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(files)) {
		all.Go(func() {
			for n := int(next.Add(1)) - 1; n < len(files); n = int(next.Add(1)) - 1 {
				objects, found := source.Objects(files[n], source.NotEmpty)
				out[n].found = found
				for _, o := range objects {
					out[n].candidates = append(out[n].candidates, newCandidate(files[n].Name, o, targets))
				}
			}
		})
	}
	all.Wait()
	return out
}

// filesOf counts the files of objects and findings.
func filesOf(subjects []subject, findings diag.List) int {
	files := map[string]bool{}
	for _, s := range subjects {
		files[s.file] = true
	}
	for _, f := range findings {
		files[f.File] = true
	}
	return len(files)
}

// withoutAccepted returns the findings that no comment in the files accepts.
func withoutAccepted(files []source.Input, subjects []subject, findings diag.List) diag.List {
	var options accept.Options
	for _, rule := range Rules() {
		options.Codes = append(options.Codes, rule.Code)
	}
	for _, s := range subjects {
		options.Objects = append(options.Objects, diag.Position{File: s.file, Line: s.written.Position("").Line})
	}
	var texts []accept.File
	for _, file := range files {
		texts = append(texts, accept.File{Name: file.Name, Data: file.Data})
	}
	return accept.Without(texts, findings, options)
}

// candidate is an object with the problems of its text.
type candidate struct {
	subject
	problems []problem.Problem
	found    diag.List
}

func newCandidate(file string, o source.Object, targets Targets) candidate {
	object, problems, newer := decode(o, targets)
	if p := nearMiss(o); p != nil {
		problems = append(problems, *p)
	}
	return candidate{subject{file, o, object, newer}, problems, nil}
}

// booleanWord returns the word of a value that has to be a text and that YAML reads as a boolean, such
// as n; "" if there is none.
func (s subject) booleanWord(p problem.Problem) string {
	if p.Code != CodeWrongFieldType {
		return ""
	}
	_, value := s.written.Entry(p.Path)
	if value == nil || value.Kind != yaml.ScalarNode || value.Style != 0 || !isBoolean().MatchString(value.Value) {
		return ""
	}
	return value.Value
}

// isBoolean matches the words that kubectl reads as booleans, but for true and false.
var isBoolean = lazily(`^(?i:y|n|yes|no|on|off)$`)

// locate returns problems of the object as findings at the keys of their fields. It drops
// what the user cannot change.
func (s subject) locate(problems []problem.Problem) []located {
	if isGenerated(s.written) {
		return nil
	}
	var out []located
	for _, p := range problems {
		if isAccepted(s.written) && slices.Contains([]string{CodeUnknownManifestField, CodeWrongFieldType, CodeInvalidManifest}, p.Code) {
			continue
		}
		if s.newer && p.Code == CodeInvalidManifest {
			continue
		}
		severity := diag.Error
		if p.Warning {
			severity = diag.Warning
		}
		f := diag.Finding{Position: s.written.KeyPosition(p.Path), Severity: severity, Code: p.Code, Message: p.Message, Hint: p.Hint}
		if word := s.booleanWord(p); word != "" {
			f.Hint = "write '" + word + "': YAML reads " + word + " as a boolean"
		}
		if s.file == "-" {
			f.Object = nameOf(s.written)
		}
		out = append(out, located{f, s, p.Path})
	}
	return out
}
