package diag

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/base/terminal"
)

// GitHub prints the findings as workflow commands, which GitHub shows next to the lines
// of a pull request and in the log.
func GitHub(w io.Writer, list List) error {
	text := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	for _, f := range list {
		at := "file=" + property.Replace(terminal.Escape(f.File))
		if f.Line > 0 {
			at += fmt.Sprintf(",line=%d", f.Line)
		}
		if f.Column > 0 {
			at += fmt.Sprintf(",col=%d", f.Column)
		}
		said := text.Replace(string(terminal.Lines(sentence(f), "")))
		if _, err := terminal.Fprintf(w, "::%s %s,title=%s::%s\n", f.Severity, at, property.Replace(f.Code), said); err != nil {
			return err
		}
	}
	return nil
}

type junitReport struct {
	XMLName xml.Name   `xml:"testsuites"`
	Suite   junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name      string        `xml:"name,attr"`
	ClassName string        `xml:"classname,attr"`
	File      string        `xml:"file,attr,omitempty"`
	Line      int           `xml:"line,attr,omitempty"`
	Failure   *junitFailure `xml:"failure"`
	Out       string        `xml:"system-out,omitempty"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// JUnit prints the findings as tests: an error is a failed test, a warning a passed
// test with output. Without findings it prints one passed test.
func JUnit(w io.Writer, list List, name string) error {
	suite := junitSuite{Name: name, Tests: max(1, len(list))}
	for _, f := range list {
		one := junitCase{Name: f.Code, ClassName: cmp.Or(f.Object, f.File), File: f.File, Line: f.Line}
		var text strings.Builder
		if err := Text(&text, List{f}, nil); err != nil {
			return err
		}
		if f.Severity == Error {
			suite.Failures++
			one.Failure = &junitFailure{Message: terminal.Escape(f.Message), Type: f.Code, Text: text.String()}
		} else {
			one.Out = text.String()
		}
		suite.Cases = append(suite.Cases, one)
	}
	if len(list) == 0 {
		suite.Cases = []junitCase{{Name: "no findings", ClassName: name}}
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(junitReport{Suite: suite}); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
