package testsuite

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/base/terminal"
)

// Printer prints results in a readable form.
type Printer struct {
	Findings diag.Printer
	// Trace prints the trace of failed steps.
	Trace bool
}

// Print prints one result: a summary line and the findings.
func (p Printer) Print(w io.Writer, r Result) error {
	word := terminal.Style(p.Findings.Colour, terminal.Green, "ok  ")
	if r.State() == Failed {
		word = terminal.Style(p.Findings.Colour, terminal.BoldRed, "FAIL")
	}
	if _, err := terminal.Fprintf(w, "%s  %s  %s  "+
		"%s%s\n", word, r.Test.File, r.Test.Metadata.Name, steps(r), took(r.Duration)); err != nil {
		return err
	}
	for i, s := range r.Steps {
		if len(s.Findings) == 0 {
			continue
		}
		if _, err := terminal.Fprintf(w, "step %d, %s:\n", i+1, s.Name); err != nil {
			return err
		}
		if err := p.Findings.Print(w, s.Findings); err != nil {
			return err
		}
		if p.Trace && s.State == Failed {
			if err := s.Trace.Print(w); err != nil {
				return err
			}
		}
	}
	return nil
}

// steps returns the number of steps, or of passed steps if the test failed.
func steps(r Result) string {
	passed := 0
	for _, s := range r.Steps {
		if s.State == Passed {
			passed++
		}
	}
	if passed < len(r.Steps) {
		return fmt.Sprintf("%d of %s passed", passed, count(len(r.Steps), "step"))
	}
	return count(passed, "step")
}

// count formats a number with a noun.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

func took(d time.Duration) string {
	if d == 0 {
		return ""
	}
	if d > time.Second {
		return "  " + d.Round(10*time.Millisecond).String()
	}
	return "  " + d.Round(100*time.Microsecond).String()
}

// Summary returns the last line of the output.
func Summary(results []Result) string {
	failed := 0
	for _, r := range results {
		if r.State() == Failed {
			failed++
		}
	}
	if failed == 0 {
		return count(len(results), "test") + " passed"
	}
	return fmt.Sprintf("%d of %s failed", failed, count(len(results), "test"))
}

// report is the machine-readable report. Its format is part of the interface.
type report struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Items      []reportItem `json:"items"`
}

type reportItem struct {
	Name    string       `json:"name"`
	File    string       `json:"file"`
	Line    int          `json:"line"`
	State   State        `json:"state"`
	Seconds float64      `json:"seconds"`
	Steps   []reportStep `json:"steps"`
}

type reportStep struct {
	Name     string          `json:"name"`
	State    State           `json:"state"`
	Seconds  float64         `json:"seconds"`
	Findings []reportFinding `json:"findings"`
}

type reportFinding struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
}

// JSON prints all results as one TestReport.
func JSON(w io.Writer, results []Result) error {
	out := report{APIVersion: v1alpha1.APIVersion, Kind: "TestReport", Items: []reportItem{}}
	for _, r := range results {
		item := reportItem{
			Name: r.Test.Metadata.Name, File: r.Test.File, Line: r.Test.Position("metadata", "name").Line,
			State: r.State(), Seconds: r.Duration.Seconds(), Steps: []reportStep{},
		}
		for _, s := range r.Steps {
			step := reportStep{Name: s.Name, State: s.State, Seconds: s.Duration.Seconds(), Findings: []reportFinding{}}
			for _, f := range s.Findings {
				step.Findings = append(step.Findings, reportFinding{f.File, f.Line, f.Column, f.Code, f.Message, f.Hint})
			}
			item.Steps = append(item.Steps, step)
		}
		out.Items = append(out.Items, item)
	}
	return terminal.JSON(w, out)
}

// The JUnit format: a test is a suite, a step a case.
type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Suites  []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	File     string      `xml:"file,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name      string        `xml:"name,attr"`
	ClassName string        `xml:"classname,attr"`
	Time      string        `xml:"time,attr"`
	Failure   *junitFailure `xml:"failure"`
	Skipped   *struct{}     `xml:"skipped"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// JUnit prints all results in the JUnit format.
func JUnit(w io.Writer, results []Result, findings diag.Printer) error {
	out := junitSuites{}
	for _, r := range results {
		suite := junitSuite{Name: r.Test.Metadata.Name, File: r.Test.File, Tests: len(r.Steps), Time: seconds(r.Duration)}
		for _, s := range r.Steps {
			one := junitCase{Name: s.Name, ClassName: r.Test.Metadata.Name, Time: seconds(s.Duration)}
			switch s.State {
			case Failed:
				suite.Failures++
				var text strings.Builder
				if err := findings.Print(&text, s.Findings); err != nil {
					return err
				}
				one.Failure = &junitFailure{Message: s.Findings[0].Message, Text: text.String()}
			case Skipped:
				suite.Skipped++
				one.Skipped = &struct{}{}
			}
			suite.Cases = append(suite.Cases, one)
		}
		out.Suites = append(out.Suites, suite)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(out); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
