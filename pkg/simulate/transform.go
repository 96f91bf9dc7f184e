package simulate

import (
	"bytes"
	"encoding/json"
	"fmt"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"github.com/argoproj/argo-events/pkg/sensors/dependencies"
	cloudevents "github.com/cloudevents/sdk-go/v2"
	"github.com/itchyny/gojq"
)

// program is the jq of a transform, compiled once: Argo's code does so for every
// event, which takes longer than all the rest.
type program struct {
	code  *gojq.Code
	runs  int
	argos bool // Argo's own code runs it, since they have differed: it asks for the time
}

// comparing is after how many runs what comes out is compared with what comes
// out of Argo's own code; the first run is.
const comparing = 100

// transform is what a dependency makes of an event.
func (p *Prepared) transform(in *cloudevents.Event, t *eventsv1.EventDependencyTransformer) (*cloudevents.Event, error) {
	if p == nil || t == nil || t.JQ == "" {
		return dependencies.ApplyTransform(in, t)
	}
	code, compare := p.program(t.JQ)
	if code == nil {
		return dependencies.ApplyTransform(in, t)
	}
	before := in.Clone()
	ours, err := ran(code, in)
	if !compare {
		return ours, err
	}
	theirs, theirErr := dependencies.ApplyTransform(&before, t)
	if (err == nil) != (theirErr == nil) || err == nil && !bytes.Equal(ours.Data(), theirs.Data()) {
		p.distrust(t.JQ)
	} else if err != nil {
		return nil, err // Argo's does not say what failed
	}
	return theirs, theirErr
}

// program returns compiled jq, nil where Argo's own code is to run it.
func (p *Prepared) program(jq string) (code *gojq.Code, compare bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.programs[jq] == nil {
		made := &program{}
		if query, err := gojq.Parse(jq); err == nil {
			made.code, _ = gojq.Compile(query) // what does not compile is Argo's to say
		}
		p.programs[jq] = made
	}
	known := p.programs[jq]
	known.runs++
	if known.argos {
		return nil, false
	}
	return known.code, known.runs%comparing == 1
}

func (p *Prepared) distrust(jq string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.programs[jq].argos = true
}

// ran is Argo's transform with a program that is compiled already.
func ran(code *gojq.Code, in *cloudevents.Event) (*cloudevents.Event, error) {
	var fields map[string]any
	if err := json.Unmarshal(in.Data(), &fields); err != nil {
		return nil, err
	}
	made, some := code.Run(fields).Next()
	if err, failed := made.(error); failed {
		return nil, fmt.Errorf("jq: %w", err)
	}
	out, ok := made.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("jq: an object is wanted, not %s", described(made, some))
	}
	data, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	return in, in.SetData(cloudevents.ApplicationJSON, data)
}

// described says what a program made instead of an object.
func described(made any, some bool) string {
	if !some {
		return "nothing"
	}
	return gojq.TypeOf(made)
}
