package jq

import (
	"context"
	"errors"
	"sync"

	"github.com/itchyny/gojq"
)

// Program is compiled jq. It is safe for concurrent use.
type Program struct {
	code *gojq.Code
	// alone is held during a run of a program that deletes, because gojq then writes to
	// the constants of the code and to the input. It is nil for other programs.
	alone *sync.Mutex
}

// ErrNoValue is returned for a program that yields nothing.
var ErrNoValue = errors.New("the expression yields no value")

// Compile compiles a query that may read variables. It does not modify the query.
func Compile(query *gojq.Query, variables ...string) (*Program, error) {
	return compile(query, variables)
}

func compile(query *gojq.Query, variables []string, options ...gojq.CompilerOption) (*Program, error) {
	b := &bounder{}
	query = b.bound(query)
	options = append(options, gojq.WithVariables(variables), HashFunction())
	if b.changes > 0 {
		options = append(options, guards()...)
	}
	code, err := gojq.Compile(query, options...)
	if err != nil {
		return nil, err
	}
	p := &Program{code: code}
	if b.deletes {
		p.alone = &sync.Mutex{}
	}
	return p, nil
}

// Run returns the first value of the program. The values of its variables have the
// order of Compile. It returns a LimitError if a limit is exceeded. No other goroutine
// may use the input during the run. The value may share parts with the input and must
// not be modified.
func (p *Program) Run(ctx context.Context, input any, values ...any) (value any, err error) {
	return p.run(&meter{Context: ctx}, input, values)
}

func (p *Program) run(m *meter, input any, values []any) (value any, err error) {
	if p.alone != nil {
		p.alone.Lock()
		defer p.alone.Unlock()
		defer func() { value = clone(value) }() // the next run writes to the parts it shares with the code
	}
	defer func() {
		switch failure := recover().(type) {
		case nil:
		case *LimitError:
			value, err = nil, failure
		default:
			panic(failure)
		}
	}()
	value, ok := p.code.RunWithContext(m, input, values...).Next()
	if !ok {
		return nil, ErrNoValue
	}
	if err, failed := value.(error); failed {
		return nil, err
	}
	return bounded(value, nil), nil
}

// clone copies everything that can be modified.
func clone(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(value))
		for key, v := range value {
			out[key] = clone(v)
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, v := range value {
			out[i] = clone(v)
		}
		return out
	}
	return value
}
