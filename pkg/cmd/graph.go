package cmd

import (
	"bytes"
	"io"

	"github.com/spf13/cobra"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/internal/graph"
)

func newGraph(s streams) *cobra.Command {
	var from sourceFlags
	var format string
	cmd := &cobra.Command{
		Use:   "graph",
		Short: "Draw the way of an event through an operator",
		Long: `graph draws what changes, who hears of it, what it starts and what is written:
for Markdown (mermaid), for Graphviz (dot), or as a picture that needs no other
program (svg, of one operator, and html, of any number).`,
		Example: `  argoperator graph -f examples/memcached -o svg > memcached.svg
  argoperator graph -f . -R -o html > operators.html`,
		Args: noArgs,
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
			return usagef("-o svg draws one operator, and there are %d: name one with -f, or use -o html", len(graphs))
		}
		draw := map[string]func(graph.Graph, io.Writer) error{"mermaid": graph.Graph.Mermaid, "dot": graph.Graph.Dot, "svg": graph.Graph.SVG}[format]
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
