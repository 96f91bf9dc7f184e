package diag

import (
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/base/terminal"
)

// Tool is the tool that reports the findings.
type Tool struct {
	Name, Version, URI string
	// Rules of the tool. A finding with another code has no description.
	Rules []ToolRule
}

// ToolRule describes a code.
type ToolRule struct {
	Code    string
	Summary string // one sentence
	Help    string // Markdown: the reason, and how to fix it
	URI     string // of its documentation
}

// The parts of the Static Analysis Results Interchange Format 2.1.0 that code hosts
// read.
type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool       sarifTool     `json:"tool"`
	ColumnKind string        `json:"columnKind"`
	Results    []sarifResult `json:"results"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name           string      `json:"name"`
	Version        string      `json:"version,omitempty"`
	InformationURI string      `json:"informationUri,omitempty"`
	Rules          []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID      string        `json:"id"`
	Short   *sarifText    `json:"shortDescription,omitempty"`
	Full    *sarifText    `json:"fullDescription,omitempty"` // GitHub requires it
	Help    *sarifMessage `json:"help,omitempty"`
	HelpURI string        `json:"helpUri,omitempty"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifMessage struct {
	Text     string `json:"text"`
	Markdown string `json:"markdown"`
}

type sarifResult struct {
	RuleID    string          `json:"ruleId"`
	RuleIndex int             `json:"ruleIndex"`
	Level     string          `json:"level"`
	Message   sarifText       `json:"message"`
	Locations []sarifLocation `json:"locations"`
}

type sarifLocation struct {
	Physical sarifPhysical `json:"physicalLocation"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   *sarifRegion  `json:"region,omitempty"`
}

type sarifArtifact struct {
	URI string `json:"uri"`
}

type sarifRegion struct {
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn,omitempty"`
}

// SARIF prints the findings for code hosts.
func SARIF(w io.Writer, list List, tool Tool) error {
	run := sarifRun{
		Tool:       sarifTool{Driver: sarifDriver{Name: tool.Name, Version: tool.Version, InformationURI: tool.URI, Rules: []sarifRule{}}},
		ColumnKind: "unicodeCodePoints",
		Results:    []sarifResult{},
	}
	rules := &run.Tool.Driver.Rules
	for _, f := range list {
		i := slices.IndexFunc(*rules, func(r sarifRule) bool { return r.ID == f.Code })
		if i < 0 {
			i = len(*rules)
			*rules = append(*rules, tool.rule(f.Code))
		}
		run.Results = append(run.Results, f.sarif(i))
	}
	return terminal.JSON(w, sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}})
}

func (t Tool) rule(code string) sarifRule {
	i := slices.IndexFunc(t.Rules, func(r ToolRule) bool { return r.Code == code })
	if i < 0 {
		return sarifRule{ID: code}
	}
	r := t.Rules[i]
	return sarifRule{ID: code, Short: &sarifText{r.Summary}, Full: &sarifText{r.Help}, Help: &sarifMessage{r.Help, r.Help}, HelpURI: r.URI}
}

func (f Finding) sarif(rule int) sarifResult {
	out := sarifResult{RuleID: f.Code, RuleIndex: rule, Level: string(f.Severity), Message: sarifText{sentence(f)}}
	if f.File != "" {
		at := sarifPhysical{Artifact: sarifArtifact{uri(f.File)}}
		if f.Line > 0 {
			at.Region = &sarifRegion{f.Line, f.Column}
		}
		out.Locations = []sarifLocation{{at}}
	}
	return out
}

// uri returns the name of a file as a URI reference, which code hosts resolve against
// the root of the repository.
func uri(file string) string {
	out := url.URL{Path: file}
	if strings.HasPrefix(file, "/") {
		out.Scheme = "file"
	}
	return out.String()
}

// sentence returns a finding's object, message and hint.
func sentence(f Finding) string {
	out := f.Message
	if f.Object != "" {
		out = f.Object + ": " + out
	}
	if f.Hint != "" {
		out += " (" + f.Hint + ")"
	}
	return out
}
