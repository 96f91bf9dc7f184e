package simulate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"github.com/argoproj/argo-events/pkg/sensors/dependencies"
	cloudevents "github.com/cloudevents/sdk-go/v2"
	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/cluster"
	"github.com/argoperator/argoperator/pkg/internal/jq"
)

// Prepared is what takes long to make and is the same for every simulation of
// the same objects: what the API server keeps, and the jq of transforms. It is
// safe for concurrent use; a nil one keeps nothing.
type Prepared struct {
	cluster  *cluster.Cache
	mu       sync.Mutex
	programs map[string]*program
}

// NewPrepared returns an empty one.
func NewPrepared() *Prepared {
	return &Prepared{cluster: cluster.NewCache(), programs: map[string]*program{}}
}

func (p *Prepared) cache() *cluster.Cache {
	if p == nil {
		return nil
	}
	return p.cluster
}

// program is the jq of a transform, compiled once: Argo's code does so for every
// event, which takes longer than all the rest.
type program struct {
	compiled *jq.Program // nil if it does not compile
	runs     int
	argos    bool // Argo's own code runs it, since they have differed: it asks for the time
}

// comparing is after how many runs what comes out is compared with what comes
// out of Argo's own code; the first run is.
const comparing = 100

// transform is what a dependency makes of an event. Argo's own code has no
// bounds: it gets only what has ended within ours.
func (p *Prepared) transform(ctx context.Context, in *cloudevents.Event, t *eventsv1.EventDependencyTransformer) (*cloudevents.Event, error) {
	if t == nil || t.JQ == "" {
		return dependencies.ApplyTransform(in, t)
	}
	known, compare := p.program(t.JQ)
	if known == nil {
		return dependencies.ApplyTransform(in, t) // which says why it does not compile
	}
	before := in.Clone()
	ours, err := ran(ctx, known, in)
	if !compare || stopped(ctx, err) {
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

// stopped says that an evaluation was stopped: Argo's own code might not end.
func stopped(ctx context.Context, err error) bool {
	var limit *jq.LimitError
	return ctx.Err() != nil || errors.As(err, &limit)
}

// program returns compiled jq, nil if it does not compile, and whether Argo's own
// code is to run it too.
func (p *Prepared) program(source string) (compiled *jq.Program, compare bool) {
	if p == nil {
		return compiledOf(source), true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.programs[source] == nil {
		p.programs[source] = &program{compiled: compiledOf(source)}
	}
	known := p.programs[source]
	known.runs++
	return known.compiled, known.argos || known.runs%comparing == 1
}

func compiledOf(source string) *jq.Program {
	query, err := gojq.Parse(source)
	if err != nil {
		return nil
	}
	compiled, _ := jq.Compile(query) // nil if that fails
	return compiled
}

func (p *Prepared) distrust(source string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.programs[source].argos = true
}

// ran is Argo's transform with a program that is compiled already.
func ran(ctx context.Context, program *jq.Program, in *cloudevents.Event) (*cloudevents.Event, error) {
	var fields map[string]any
	if err := json.Unmarshal(in.Data(), &fields); err != nil {
		return nil, err
	}
	made, err := program.Run(ctx, fields)
	switch {
	case err != nil && stopped(ctx, err):
		return nil, err
	case errors.Is(err, jq.ErrNoValue):
		return nil, errors.New("jq: an object is wanted, not nothing")
	case err != nil:
		return nil, fmt.Errorf("jq: %w", err)
	}
	out, ok := made.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("jq: an object is wanted, not %s", gojq.TypeOf(made))
	}
	data, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	return in, in.SetData(cloudevents.ApplicationJSON, data)
}
