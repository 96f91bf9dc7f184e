package cmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/base/terminal"
	"github.com/argoperator/argoperator/pkg/internal/operator/diff"
	"github.com/argoperator/argoperator/pkg/internal/verify/lint"
)

// printRules lists the rules of manifests.
func printRules(s streams) error {
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	terminal.Fprintf(w, "CODE\tSEVERITY\tPROFILE\tFIXABLE\tPROBLEM\n")
	for _, r := range lint.Rules() {
		profile, fixable := "recommended", ""
		if r.Strict {
			profile = "strict"
		}
		if r.Fixable() {
			fixable = "yes"
		}
		terminal.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.Code, r.Severity(), profile, fixable, r.Summary)
	}
	return w.Flush()
}

// explainRule prints what a finding means.
func explainRule(s streams, code string) error {
	for _, r := range lint.Rules() {
		if r.Code == code {
			terminal.Fprintf(s.out, "%s (%s)\n\n%s\n\n%s\n\nTo fix it, %s.\n\n%s#%s\n",
				r.Code, r.Severity(), r.Summary, r.Why, r.Fix, rulesPage, code)
			return nil
		}
	}
	var known []string
	for _, c := range diag.Codes() {
		if c.Code == code {
			terminal.Fprintf(s.out, "%s\n\n%s\n\n%s#%s\n", c.Code, c.Doc, findingsPageURL, code)
			return nil
		}
		known = append(known, c.Code)
	}
	for _, r := range lint.Rules() {
		known = append(known, r.Code)
	}
	text := fmt.Sprintf("there is no rule %q", code)
	if hint := diag.DidYouMean(code, known, diag.FoldKey); hint != "" {
		text += "; " + hint
	}
	return usagef("%s", text)
}

// printStatistics counts the findings by their code.
func printStatistics(s streams, findings diag.List) error {
	counts := map[string]int{}
	severity := map[string]diag.Severity{}
	for _, f := range findings {
		counts[f.Code]++
		severity[f.Code] = f.Severity
	}
	codes := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		if counts[a] != counts[b] {
			return counts[b] - counts[a]
		}
		return strings.Compare(a, b)
	})
	for _, code := range codes {
		terminal.Fprintf(s.out, "%6d  %-7s  %s\n", counts[code], severity[code], code)
	}
	if findings.HasErrors() {
		return errFindings
	}
	return nil
}

// withoutBaseline returns the findings that are not in a report that lint -o json has written.
// A finding is the same on another line, and counts as often as there.
func withoutBaseline(s streams, name string, findings diag.List) (diag.List, error) {
	if name == "" {
		return findings, nil
	}
	data, err := readFile(name)
	if err != nil {
		var wrong diag.List
		if err := unreadable(&wrong, name, "the value of --baseline", err); err != nil {
			return nil, err
		}
		return nil, report(s, nil, wrong)
	}
	var known struct {
		Kind  string `json:"kind"`
		Items []struct {
			File    string `json:"file"`
			Code    string `json:"code"`
			Message string `json:"message"`
			Object  string `json:"object"`
		} `json:"items"`
	}
	if err := json.Unmarshal(data, &known); err != nil || known.Kind != "FindingList" {
		var wrong diag.List
		wrong.Add(diag.Position{File: filepath.ToSlash(name)}, diag.WrongKind, "not a report of findings",
			"write it with argoperator lint -o json")
		return nil, report(s, nil, wrong)
	}
	type id struct{ file, code, message, object string }
	left := map[id]int{}
	for _, item := range known.Items {
		left[id{item.File, item.Code, item.Message, item.Object}]++
	}
	var out diag.List
	for _, f := range findings {
		of := id{f.File, f.Code, f.Message, f.Object}
		if left[of]--; left[of] < 0 {
			out = append(out, f)
		}
	}
	return out, nil
}

// printFixes prints what --fix would write, as a patch.
func printFixes(s streams, manifests []argoperator.Source, config *lint.Config) error {
	fixed := lint.Fixed(manifests, config)
	for _, file := range fixed {
		i := slices.IndexFunc(manifests, func(m argoperator.Source) bool { return m.Name == file.Name })
		if _, err := s.out.Write(diff.Text(file.Name, manifests[i].Data, file.Data)); err != nil {
			return err
		}
	}
	return nil
}

// lintConfigFile returns the configuration of the working directory: the nearest in it and the
// directories above, up to the root of a repository.
func lintConfigFile() string {
	dir, err := os.Getwd()
	if err != nil {
		return lint.ConfigFile
	}
	for path := ""; ; path = filepath.Join(path, "..") {
		file := filepath.Join(path, lint.ConfigFile)
		if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
			return file
		}
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil || dir == filepath.Dir(dir) {
			return lint.ConfigFile
		}
		dir = filepath.Dir(dir)
	}
}
