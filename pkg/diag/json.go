package diag

import (
	"io"

	"github.com/argoperator/argoperator/pkg/internal/base/terminal"
)

// envelope is the machine-readable report. Its format is part of the interface.
type envelope struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Items      []item `json:"items"`
}

type item struct {
	File     string   `json:"file"`
	Line     int      `json:"line"`
	Column   int      `json:"column"`
	Severity Severity `json:"severity"`
	Code     string   `json:"code"`
	Message  string   `json:"message"`
	Hint     string   `json:"hint"`
	Object   string   `json:"object,omitempty"`
}

// JSON prints the findings as one FindingList. items is an empty list if there are
// none.
func JSON(w io.Writer, list List) error {
	report := envelope{APIVersion: "argoperator.dev/v1alpha1", Kind: "FindingList", Items: []item{}}
	for _, f := range list {
		report.Items = append(report.Items, item{f.File, f.Line, f.Column, f.Severity, f.Code, f.Message, f.Hint, f.Object})
	}
	return terminal.JSON(w, report)
}
