package graph

import (
	"fmt"
	"io"
	"strings"

	"github.com/argoperator/argoperator/pkg/internal/base/terminal"
)

// Mermaid prints a flowchart that GitHub and GitLab render in Markdown.
func (g Graph) Mermaid(w io.Writer) error {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	for _, n := range g.Nodes {
		fmt.Fprintf(&b, "  %s[\"%s\"]:::%s\n", n.ID, mermaid(n), n.Role)
	}
	for _, e := range g.Edges {
		arrow := "-->"
		if e.Repair {
			arrow = "-.->"
		}
		if e.Label != "" {
			arrow += "|" + mermaidText(e.Label) + "|"
		}
		fmt.Fprintf(&b, "  %s %s %s\n", e.From, arrow, e.To)
	}
	for _, role := range append(columns, Resync) {
		fmt.Fprintf(&b, "  classDef %s fill:%s,stroke:%s,color:#1a1a1a\n", role, fills[role], strokes[role])
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func mermaid(n Node) string {
	lines := []string{"<b>" + mermaidText(n.Title) + "</b>"}
	for _, line := range n.Text {
		lines = append(lines, mermaidText(line))
	}
	return strings.Join(lines, "<br/>")
}

// mermaidText escapes Mermaid and HTML syntax.
func mermaidText(text string) string {
	return strings.NewReplacer("&", "#amp;", "<", "#lt;", ">", "#gt;", `"`, "#quot;", "#", "#35;", "|", "#124;", "`", "#96;").
		Replace(terminal.Escape(text))
}

// Dot prints the graph for Graphviz.
func (g Graph) Dot(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(
		&b,
		"digraph operator {\n  label=%s\n  rankdir=LR\n  node [shape=box style=\"rounded,filled\" fontname=\"Helvetica\"]\n  edge "+
			"[fontname=\"Helvetica\" fontsize=10]\n",
		dot(g.Title),
	)
	for _, n := range g.Nodes {
		fmt.Fprintf(
			&b,
			"  %s [label=%s fillcolor=%q color=%q]\n",
			n.ID,
			dot(append([]string{n.Title}, n.Text...)...),
			fills[n.Role],
			strokes[n.Role],
		)
	}
	for _, role := range columns {
		var same []string
		for _, n := range g.Nodes {
			if n.Role == role {
				same = append(same, n.ID)
			}
		}
		if len(same) > 1 {
			fmt.Fprintf(&b, "  {rank=same %s}\n", strings.Join(same, " "))
		}
	}
	for _, e := range g.Edges {
		style := ""
		if e.Repair {
			style = " style=dashed constraint=false"
		}
		fmt.Fprintf(&b, "  %s -> %s [label=%s%s]\n", e.From, e.To, dot(e.Label), style)
	}
	b.WriteString("}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// dot returns lines as a string of the DOT language.
func dot(lines ...string) string {
	for i := range lines {
		lines[i] = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(terminal.Escape(lines[i]))
	}
	return `"` + strings.Join(lines, `\n`) + `"`
}

// Colours of boxes.
var (
	fills = map[Role]string{
		Changes: "#e8f0fe", Source: "#fef3e0", Bus: "#f1f3f4", Sensor: "#fef3e0", Workflow: "#e6f4ea", Written: "#e8f0fe",
		Resync: "#fce8e6",
	}
	strokes = map[Role]string{
		Changes: "#4a78d0", Source: "#d08a20", Bus: "#80868b", Sensor: "#d08a20", Workflow: "#3c9a58", Written: "#4a78d0",
		Resync: "#c5503f",
	}
)
