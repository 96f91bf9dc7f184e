package cmd

import (
	"bytes"
	"io"

	"github.com/spf13/cobra"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/internal/operator/graph"
)

func newGraph(s streams) *cobra.Command {
	var from sourceFlags
	var format string
	cmd := &cobra.Command{
		Use:   "graph [PATH]...",
		Short: "Draw the event flow of an operator",
		Long: `Draw which resources an operator watches, which EventSource and Sensors receive
their events, and what the triggers and Workflows write. The formats are mermaid
for Markdown, dot for Graphviz, svg for a picture of one operator, and html for a
page with any number of operators. svg and html need no other program.`,
		Example: `  # Print a diagram for Markdown
  argoperator graph -f .

  # Write a picture
  argoperator graph -f . -o svg > guestbook.svg

  # Write a page with all operators in this directory and its subdirectories
  argoperator graph -f . -R -o html > operators.html`,
		Args: from.paths,
		RunE: func(*cobra.Command, []string) error {
			return drawGraphs(s, &from, format)
		},
	}
	from.register(cmd)
	outputVar(cmd, &format, "mermaid", "dot", "svg", "html")
	return cmd
}

func drawGraphs(s streams, from *sourceFlags, format string) error {
	result, _, err := from.operators(s, argoperator.Options{})
	if err != nil {
		return err
	}
	graphs := result.Graphs()
	var out bytes.Buffer
	if format == "html" {
		err = graph.HTML(&out, graphs)
	} else {
		if len(graphs) > 1 && format == "svg" {
			return usagef("-o svg draws one operator, got %d: name one with -f, or use -o html", len(graphs))
		}
		draw := map[string]func(graph.Graph, io.Writer) error{
			"mermaid": graph.Graph.Mermaid, "dot": graph.Graph.Dot, "svg": graph.Graph.SVG,
		}[format]
		for _, g := range graphs {
			if err = draw(g, &out); err != nil {
				break
			}
		}
	}
	if err != nil {
		return err
	}
	_, err = s.out.Write(out.Bytes())
	return err
}
