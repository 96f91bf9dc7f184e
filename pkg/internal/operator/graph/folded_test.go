package graph

import (
	"strings"
	"testing"
)

func TestFolded(t *testing.T) {
	nodes := []Node{
		{ID: "own", Role: Changes, Title: "Shop", Text: []string{customResources}},
		{ID: "source", Role: Source, Title: "EventSource", Text: []string{"shop"}},
	}
	edges := []Edge{{From: "own", To: "source"}}
	small := Graph{Nodes: nodes, Edges: edges}
	for _, kind := range []string{"ConfigMap", "Deployment", "Service"} {
		id := strings.ToLower(kind)
		small.Nodes = append(small.Nodes, Node{ID: "written_" + id, Role: Written, Title: kind, Name: id, Text: []string{id}})
		small.Edges = append(small.Edges, Edge{From: "source", To: "written_" + id, Label: "apply"})
	}
	got := small.Folded()
	box := got.Nodes[len(got.Nodes)-1]
	if len(got.Nodes) != 3 || box.ID != "written_configmap written_deployment written_service" || box.Title != "3 children" ||
		strings.Join(box.Text, "|") != "ConfigMap, Deployment|Service" {
		t.Errorf("nodes: %+v", got.Nodes)
	}
	if len(got.Edges) != 2 || got.Edges[1] != (Edge{From: "source", To: box.ID, Label: "apply"}) {
		t.Errorf("edges: %+v", got.Edges)
	}
	small.Nodes, small.Edges = small.Nodes[:4], small.Edges[:3]
	if same := small.Folded(); len(same.Nodes) != 4 || len(same.Edges) != 3 {
		t.Errorf("two children are folded: %+v", same)
	}
}
