package page

import (
	"net/http"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/argoperator/argoperator/pkg/internal/run/live"
	"github.com/argoperator/argoperator/pkg/internal/run/testsuite"
)

func (s *Server) recording(*http.Request) (any, error) {
	steps, err := s.in.Live.Recording("recorded")
	if err != nil {
		return nil, err
	}
	return steps, nil
}

func (s *Server) dropRecording(*http.Request) (any, error) {
	s.in.Live.DropRecording()
	s.Changed()
	return struct{}{}, nil
}

func (s *Server) saveRecording(r *http.Request) (any, error) {
	in, err := input[struct {
		Name string `json:"name"`
	}](r)
	if err != nil {
		return nil, err
	}
	// The name becomes that of a file, and part of its YAML.
	if wrong := validation.IsDNS1123Label(in.Name); len(wrong) > 0 {
		return nil, badRequest("%q is not a name for a test: %s", in.Name, wrong[0])
	}
	s.in.Live.Settle(r.Context())
	recording, err := s.in.Live.Recording(in.Name)
	if err != nil {
		return nil, err
	}
	if recording.YAML == "" {
		return nil, badRequest("nothing is recorded: create a custom resource")
	}
	file, err := s.in.Project.SaveTest(in.Name, []byte(recording.YAML))
	if err != nil {
		return nil, problem{http.StatusConflict, err.Error()}
	}
	results, err := s.in.Project.RunTests(r.Context(), in.Name)
	if err != nil {
		return nil, err
	}
	out := map[string]any{"file": file, "state": testsuite.Skipped, "findings": []finding{}}
	for _, result := range results {
		out["state"], out["findings"] = result.State(), findings(result.Findings())
	}
	return out, nil
}

// testResult is the result of a test with the records of its steps.
type testResult struct {
	Test
	State    testsuite.State   `json:"state"`
	Duration live.Milliseconds `json:"duration"`
	Steps    []stepResult      `json:"steps"`
}

type stepResult struct {
	Name     string          `json:"name"`
	State    testsuite.State `json:"state"`
	Findings []finding       `json:"findings"`
	Records  []live.Record   `json:"records"`
}

func (s *Server) runTests(r *http.Request) (any, error) {
	in, err := input[struct {
		Name string `json:"name"`
	}](r)
	if err != nil {
		return nil, err
	}
	results, err := s.in.Project.RunTests(r.Context(), in.Name)
	if err != nil {
		return nil, err
	}
	out := []testResult{}
	for _, result := range results {
		at := result.Test.Position("metadata", "name")
		one := testResult{
			Test: Test{Name: result.Test.Metadata.Name, File: at.File, Line: at.Line}, State: result.State(),
			Duration: live.Milliseconds(result.Duration), Steps: []stepResult{},
		}
		for _, step := range result.Steps {
			records, err := s.in.Live.Records(step.Trace)
			if err != nil {
				return nil, err
			}
			one.Steps = append(one.Steps, stepResult{step.Name, step.State, findings(step.Findings), records})
		}
		out = append(out, one)
	}
	return out, nil
}
