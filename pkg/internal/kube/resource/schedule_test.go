package resource

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/robfig/cron/v3"
	"go.yaml.in/yaml/v3"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/shortschema"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// TestSchedulesAreValid compares the samples of the type cron with the parser that a
// CronJob uses: its pattern also matches ranges that end before they begin.
func TestSchedulesAreValid(t *testing.T) {
	s := schemaOf(t, scheduleSchema(t))
	var objects []map[string]any
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		object, err := s.Random(random)
		if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, object)
	}
	edges, err := s.Edges()
	if err != nil {
		t.Fatal(err)
	}
	for _, edge := range edges {
		objects = append(objects, edge.Object)
	}
	checked := 0
	for _, object := range objects {
		spec, _ := object["spec"].(map[string]any)
		if schedule, ok := spec["at"].(string); ok {
			checked++
			if _, err := cron.ParseStandard(schedule); err != nil {
				t.Errorf("%q: %v", schedule, err)
			}
		}
	}
	if checked < 50 {
		t.Errorf("only %d schedules", checked)
	}
}

func scheduleSchema(t *testing.T) string {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte("{at: cron | required=true, text: string}"), &doc); err != nil {
		t.Fatal(err)
	}
	var found diag.List
	schema := shortschema.New(source.Positions{Root: doc.Content[0]}, nil, &found).Object(doc.Content[0])
	data, err := json.Marshal(schema)
	if err != nil || len(found) > 0 {
		t.Fatal(err, found)
	}
	return string(data)
}
