package explain

import (
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// Engine is the engine of an operator and the reason for it.
type Engine struct {
	Name     string   `json:"name"`
	Does     string   `json:"summary"`
	Named    *Place   `json:"specifiedAt,omitempty"` // where the definition names it; nil: auto has selected it
	Auto     string   `json:"auto"`                  // the engine that auto selects
	Cheapest string   `json:"cheapest"`              // the engine that Against excludes
	Against  []Reason `json:"reasons"`               // empty: auto selects the cheapest
}

// Place is a position in a file.
type Place struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// Reason is a part of the definition that the cheapest engine does not support.
type Reason struct {
	Place
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

const auto = "auto"

func engine(p *plan.Plan, d *definition.Definition) Engine {
	out := Engine{
		Name: string(p.Reconcile.Engine), Auto: string(plan.AutoEngine(p.Reconcile.Against)), Cheapest: string(plan.Direct),
		Does: p.Reconcile.Execution.Summary, Against: []Reason{},
	}
	if len(p.Reconcile.Against[plan.Engine(out.Auto)]) > 0 {
		out.Auto = ""
	}
	if d.Operator.Spec.Reconcile.Engine != auto {
		at := place(d, "spec", "reconcile", "engine")
		out.Named = &at
	}
	for _, r := range p.Reconcile.Against[plan.Direct] {
		out.Against = append(out.Against, Reason{Place: place(d, r.Path...), Message: r.Message, Hint: r.Hint})
	}
	return out
}

func place(d *definition.Definition, path ...string) Place {
	at := d.Position(path...)
	return Place{File: at.File, Line: at.Line, Column: at.Column}
}
