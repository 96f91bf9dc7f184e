package argoperator

import (
	"io/fs"
	"path"
	"strings"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
	"github.com/argoperator/argoperator/pkg/internal/verify/lint/accept"
)

// withoutAccepted returns the findings that no comment in the definitions, or in the files
// that they refer to, accepts.
func withoutAccepted(sources []Source, definitions []diag.Position, findings diag.List) diag.List {
	options := accept.Options{Objects: definitions, WarningsOnly: true}
	for _, code := range diag.Codes() {
		options.Codes = append(options.Codes, code.Code)
	}
	for _, code := range problem.Codes() {
		options.Codes = append(options.Codes, code.Code)
	}
	defines := map[string]bool{}
	for _, at := range definitions {
		defines[at.File] = true
	}
	var files []accept.File
	read := map[string]bool{}
	for _, s := range sources {
		if !defines[s.Name] {
			continue // its comments are about Argo manifests
		}
		if !read[s.Name] { // it can be beside one before it
			files = append(files, accept.File{Name: s.Name, Data: s.Data})
			read[s.Name] = true
		}
		beside := strings.TrimSuffix(path.Join(path.Dir(s.Name), "x"), "x")
		for _, f := range findings {
			rest, inside := strings.CutPrefix(f.File, beside)
			if read[f.File] || !inside || s.Dir == nil {
				continue
			}
			read[f.File] = true
			if data, err := fs.ReadFile(s.Dir, rest); err == nil {
				files = append(files, accept.File{Name: f.File, Data: data})
			}
		}
	}
	return accept.Without(files, findings, options)
}
