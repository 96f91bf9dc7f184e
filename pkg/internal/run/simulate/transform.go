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

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
)

// Prepared caches what is expensive to prepare and is the same for every simulation
// of the same objects: the API server's schemas and compiled jq. It is safe for
// concurrent use; a nil Prepared caches nothing.
type Prepared struct {
	cluster  *cluster.Cache
	mu       sync.Mutex
	programs map[string]*program
}

// NewPrepared returns an empty Prepared.
func NewPrepared() *Prepared {
	return &Prepared{cluster: cluster.NewCache(), programs: map[string]*program{}}
}

func (p *Prepared) cache() *cluster.Cache {
	if p == nil {
		return nil
	}
	return p.cluster
}

// program is the jq of a transform, compiled once. Argo's code compiles it for
// every event, which dominates the run time.
type program struct {
	compiled *jq.Program // nil if it does not compile
	runs     int
	useArgo  bool // Argo's own code runs it, because its results differed: it reads the clock
}

// compareEvery is the number of runs after which a result is compared with that of
// Argo's own code. The first run is always compared.
const compareEvery = 100

// transform applies a dependency's transform to an event. Argo's own code has no
// limits, so it only runs programs that have ended within ours.
func (p *Prepared) transform(
	ctx context.Context,
	in *cloudevents.Event,
	t *eventsv1.EventDependencyTransformer,
) (*cloudevents.Event, error) {
	if t == nil || t.JQ == "" {
		return dependencies.ApplyTransform(in, t)
	}
	known, compare := p.program(t.JQ)
	if known == nil {
		return dependencies.ApplyTransform(in, t) // returns why it does not compile
	}
	before := in.Clone()
	ours, err := runProgram(ctx, known, in)
	if !compare || stopped(ctx, err) {
		return ours, err
	}
	theirs, theirErr := dependencies.ApplyTransform(&before, t)
	if (err == nil) != (theirErr == nil) || err == nil && !bytes.Equal(ours.Data(), theirs.Data()) {
		p.preferArgo(t.JQ)
	} else if err != nil {
		return nil, err // Argo's error does not tell what failed
	}
	return theirs, theirErr
}

// stopped reports that a limit stopped an evaluation: Argo's own code might not
// end.
func stopped(ctx context.Context, err error) bool {
	var limit *jq.LimitError
	return ctx.Err() != nil || errors.As(err, &limit)
}

// program returns compiled jq, nil if it does not compile, and whether Argo's own
// code must run it too.
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
	return known.compiled, known.useArgo || known.runs%compareEvery == 1
}

func compiledOf(source string) *jq.Program {
	query, err := gojq.Parse(source)
	if err != nil {
		return nil
	}
	compiled, _ := jq.Compile(query) // nil on error
	return compiled
}

func (p *Prepared) preferArgo(source string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.programs[source].useArgo = true
}

// runProgram is Argo's transform with a compiled program.
func runProgram(ctx context.Context, program *jq.Program, in *cloudevents.Event) (*cloudevents.Event, error) {
	var fields map[string]any
	if err := json.Unmarshal(in.Data(), &fields); err != nil {
		return nil, err
	}
	made, err := program.Run(ctx, fields)
	switch {
	case err != nil && stopped(ctx, err):
		return nil, err
	case errors.Is(err, jq.ErrNoValue):
		return nil, errors.New("jq: no result, expected an object")
	case err != nil:
		return nil, fmt.Errorf("jq: %w", err)
	}
	out, ok := made.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("jq: expected an object, got %s", gojq.TypeOf(made))
	}
	data, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	return in, in.SetData(cloudevents.ApplicationJSON, data)
}
