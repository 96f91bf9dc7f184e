package graph

import (
	"fmt"
	"slices"
	"strings"
)

// How many boxes of one kind a folded graph has at most, and lines in the box of several.
const (
	maxBoxes = 2
	maxLines = 3
	perLine  = 2 // names in a line
)

// Folded returns the graph for a small space: one box for the children, and one for the kinds that
// are watched beside the custom resources, if there are more than two. The ID of such a box has the
// IDs of all, separated by spaces.
func (g Graph) Folded() Graph {
	into := map[string]string{} // IDs
	var folded []Node
	fold := func(what string, fits func(Node) bool) {
		var nodes []Node
		for _, n := range g.Nodes {
			if fits(n) {
				nodes = append(nodes, n)
			}
		}
		if len(nodes) <= maxBoxes {
			return
		}
		one := together(what, nodes)
		for _, n := range nodes {
			into[n.ID] = one.ID
		}
		folded = append(folded, one)
	}
	fold("watched kinds", func(n Node) bool { return n.Role == Changes && n.Text[0] != customResources })
	fold("children", func(n Node) bool { return n.Role == Written && n.Name != "" })
	out := Graph{Title: g.Title}
	for _, n := range g.Nodes {
		id, is := into[n.ID]
		switch {
		case !is:
			out.Nodes = append(out.Nodes, n)
		case !slices.ContainsFunc(out.Nodes, func(o Node) bool { return o.ID == id }):
			out.Nodes = append(out.Nodes, folded[slices.IndexFunc(folded, func(o Node) bool { return o.ID == id })])
		}
	}
	for _, e := range g.Edges {
		if id, is := into[e.From]; is {
			e.From = id
		}
		if id, is := into[e.To]; is {
			e.To = id
		}
		if !slices.Contains(out.Edges, e) {
			out.Edges = append(out.Edges, e)
		}
	}
	return out
}

// together returns one box for several.
func together(what string, nodes []Node) Node {
	out := Node{Role: nodes[0].Role, Title: fmt.Sprintf("%d %s", len(nodes), what)}
	var ids, names []string
	for _, n := range nodes {
		ids = append(ids, n.ID)
		if !slices.Contains(names, n.Title) {
			names = append(names, n.Title)
		}
	}
	out.ID = strings.Join(ids, " ")
	for line := range slices.Chunk(names, perLine) {
		if len(out.Text) == maxLines {
			out.Text[maxLines-1] += " …"
			break
		}
		out.Text = append(out.Text, strings.Join(line, ", "))
	}
	return out
}
