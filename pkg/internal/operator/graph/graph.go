// Package graph draws the event flow of an operator: what changes, what receives
// the event, what it starts, and what is written.
//
// The rule of this package: a graph is built from the plan alone and contains
// nothing else. The printers need no other program.
package graph

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// Graph is the event flow of an operator, from left to right.
type Graph struct {
	Title string
	Nodes []Node
	Edges []Edge
}

// Role is the role of a node.
type Role string

// Roles in the order of their columns; Resync is below the others.
const (
	Changes  Role = "changes"  // an object that causes events
	Source   Role = "source"   // the EventSource
	Bus      Role = "bus"      // the EventBus
	Sensor   Role = "sensor"   // a Sensor
	Workflow Role = "workflow" // program or step of a Workflow, or the worker
	Written  Role = "written"  // the written objects
	Resync   Role = "resync"   // the CronWorkflow
)

// columns are the roles from left to right.
var columns = []Role{Changes, Source, Bus, Sensor, Workflow, Written}

// Node is a box.
type Node struct {
	ID    string // consists of letters, digits and _
	Role  Role
	Title string
	Text  []string // lines below the title
	// Kind of the objects that change or are written; empty for the operator's own.
	Kind schema.GroupKind
	Name string // of a Sensor, or of a child in the definition
}

// Edge is an arrow.
type Edge struct {
	From, To string // IDs
	Label    string
	Repair   bool // part of the resync and not of the event flow
}

// New builds the graph of an operator.
func New(p *plan.Plan) Graph {
	b := &builder{plan: p, graph: Graph{Title: p.Operator.Name + ": " + p.API.Kind.Kind + ", " + string(p.Reconcile.Engine) + " engine"}}
	b.add(Node{ID: "source", Role: Source, Title: "EventSource", Text: []string{p.Names.EventSource}})
	b.add(Node{ID: "bus", Role: Bus, Title: "EventBus", Text: []string{p.Shared.EventBus.Name}})
	b.arrow("source", "bus", "")
	b.changes()
	if p.Reconcile.Execution.RunsPods {
		b.workflow()
	} else {
		b.direct()
	}
	if !p.Reconcile.Execution.Stays { // the worker does it itself
		b.resync()
	}
	return b.graph
}

type builder struct {
	plan  *plan.Plan
	graph Graph
}

func (b *builder) add(n Node) { b.graph.Nodes = append(b.graph.Nodes, n) }

func (b *builder) arrow(from, to, label string) {
	b.graph.Edges = append(b.graph.Edges, Edge{From: from, To: to, Label: label})
}

// customResources is the text of the box of the operator's own kind.
const customResources = "custom resources"

// changes adds the watched kinds, each once.
func (b *builder) changes() {
	seen := map[string]bool{}
	for _, e := range b.plan.Events {
		role := "children"
		switch {
		case e.Interval != "":
			continue // the liveness check is not part of the event flow
		case e.Related:
			role = "related"
		case e.Kind == b.plan.API.Kind && e.Selector == nil:
			role = customResources
		}
		id := "change_" + identifier(e.Kind.Plural+"_"+e.Kind.Group+"_"+role)
		if seen[id] {
			continue // another namespace
		}
		seen[id] = true
		b.add(Node{ID: id, Role: Changes, Title: e.Kind.Kind, Text: []string{role}, Kind: groupKind(e.Kind)})
		b.arrow(id, "source", "")
	}
}

// direct adds the Sensor of the direct engine, which writes itself.
func (b *builder) direct() {
	const id = "sensor_0"
	s := b.plan.Sensors[0]
	b.add(Node{ID: id, Role: Sensor, Title: "Sensor", Text: []string{s.Name, count(len(s.Triggers), "trigger")}, Name: s.Name})
	b.arrow("bus", id, "")
	for _, c := range b.plan.Children {
		b.arrow(id, childID(c), "apply")
	}
	b.arrow(id, "status", "patch")
	b.written()
}

// workflow adds a Sensor that creates a Workflow, or posts to a worker.
func (b *builder) workflow() {
	title, verb := "Workflow", "create"
	if b.plan.Reconcile.Execution.Stays {
		title, verb = "Deployment", "post"
	}
	for i, s := range b.plan.Sensors {
		id := fmt.Sprintf("sensor_%d", i)
		b.add(Node{ID: id, Role: Sensor, Title: "Sensor", Text: []string{s.Name}, Name: s.Name})
		b.arrow("bus", id, "")
		b.arrow(id, "reconcile", verb)
	}
	b.add(Node{ID: "reconcile", Role: Workflow, Title: title, Text: b.steps()})
	for _, c := range b.plan.Children {
		b.arrow("reconcile", childID(c), "apply")
	}
	b.written()
	for _, r := range b.plan.Related {
		if r.Delete {
			id := "related_" + identifier(r.Name)
			b.add(
				Node{
					ID:    id,
					Role:  Written,
					Title: r.Kind.Kind,
					Text:  []string{r.Name, "related object"},
					Kind:  groupKind(r.Kind),
					Name:  r.Name,
				},
			)
			b.arrow("reconcile", id, "delete")
		}
	}
	if b.plan.API.Kind.StatusSubresource {
		b.arrow("reconcile", "status", "patch")
	}
}

// steps returns the steps of a reconcile.
func (b *builder) steps() []string {
	lines := []string{b.plan.Names.WorkflowTemplate, "one at a time per " + b.plan.API.Kind.Kind}
	if b.plan.Reconcile.Execution.Stays {
		lines[0] = b.plan.Names.Worker
		lines = append(lines, fmt.Sprintf("looks at all every %s", b.plan.Shared.Resync))
	}
	if l := b.plan.Logic; len(l.Command) > 0 {
		lines = append(lines, "logic: "+l.Image, strings.Join(l.Command, " "))
	}
	if b.plan.Reconcile.Finalizer != "" {
		lines = append(lines, "runs the finalizer")
	}
	return lines
}

// written adds the objects that an operator manages.
func (b *builder) written() {
	for _, c := range b.plan.Children {
		text := []string{c.Name}
		if c.When != nil {
			text = append(text, "if when is true")
		}
		if c.ForEach != nil {
			text = append(text, "one per item")
		}
		if after := c.After(); len(after) > 0 {
			text = append(text, "after "+strings.Join(after, ", "))
		}
		if c.Orphan {
			text = append(text, "kept on deletion")
		}
		b.add(Node{ID: childID(c), Role: Written, Title: c.Kind.Kind, Text: text, Kind: groupKind(c.Kind), Name: c.Name})
	}
	if b.plan.API.Kind.StatusSubresource {
		var names []string
		for _, f := range b.plan.Status.Fields {
			names = append(names, f.Name)
		}
		slices.Sort(names)
		b.add(Node{ID: "status", Role: Written, Title: b.plan.API.Kind.Kind + " status", Text: append(wrapped(names), "conditions")})
	} else {
		b.graph.Edges = slices.DeleteFunc(b.graph.Edges, func(e Edge) bool { return e.To == "status" })
	}
}

// wrapped puts a few names on each line.
func wrapped(names []string) []string {
	var lines []string
	for chunk := range slices.Chunk(names, 3) {
		lines = append(lines, strings.Join(chunk, ", "))
	}
	return lines
}

// resync adds the resync, which bypasses the event bus.
func (b *builder) resync() {
	b.add(
		Node{
			ID:    "resync",
			Role:  Resync,
			Title: "CronWorkflow",
			Text:  []string{b.plan.Names.CronWorkflow, "at " + b.plan.Shared.Schedule},
		},
	)
	repair := func(to, label string) {
		b.graph.Edges = append(b.graph.Edges, Edge{From: "resync", To: to, Label: label, Repair: true})
	}
	repair("source", "replay all objects")
	if b.plan.Reconcile.Execution.RunsPods {
		repair("reconcile", "outdated custom resources")
	}
}

func childID(c plan.Child) string { return "child_" + identifier(c.Name+"_"+c.Kind.Plural) }

func groupKind(k plan.Kind) schema.GroupKind { return schema.GroupKind{Group: k.Group, Kind: k.Kind} }

func identifier(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, text)
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
