package graph

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/argoperator/argoperator/pkg/internal/base/terminal"
)

// Sizes in pixels.
const (
	margin     = 24
	titleSpace = 44 // above the boxes
	headSpace  = 26 // for a column's name
	lineHeight = 17
	padding    = 12
	gapAcross  = 78 // between columns; fits the label of an edge
	gapDown    = 18
	letter     = 7.2 // mean width of a letter at 13 px
	bold       = 1.15
	large      = 1.3
)

// heads are the titles of the columns.
var heads = map[Role]string{
	Changes: "watched objects", Source: "receives events", Bus: "stores events", Sensor: "evaluates " +
		"events", Workflow: "reconciles", Written: "written objects",
}

// box is a node with its position.
type box struct {
	Node
	x, y, w, h float64
}

// picture is a graph with positions.
type picture struct {
	graph         Graph
	boxes         map[string]*box
	order         []*box
	width, height float64
}

// layout puts each role into a centred column, from left to right, and the resync
// below.
func layout(g Graph) picture {
	p := picture{graph: g, boxes: map[string]*box{}}
	x, tallest := float64(margin), 0.0
	var stacks [][]*box
	for _, role := range columns {
		stack, width, height := stacked(g, role)
		if len(stack) == 0 {
			continue
		}
		for _, b := range stack {
			b.x, b.w = x, width
		}
		stacks = append(stacks, stack)
		tallest = max(tallest, height)
		x += width + gapAcross
	}
	p.width = max(x-gapAcross, margin+textWidth(g.Title)*large) + margin
	for _, stack := range stacks {
		last := stack[len(stack)-1]
		down := titleSpace + headSpace + (tallest-last.y-last.h)/2
		for _, b := range stack {
			b.y += down
			p.put(b)
		}
	}
	p.height = titleSpace + headSpace + tallest + margin
	below, width, height := stacked(g, Resync)
	for _, b := range below {
		b.w, b.x, b.y = width, p.boxes["bus"].x+p.boxes["bus"].w/2-width/2, p.height+gapDown
		p.height += gapDown + height + margin
		p.put(b)
	}
	return p
}

func (p *picture) put(b *box) {
	p.boxes[b.ID] = b
	p.order = append(p.order, b)
}

// stacked returns the boxes of a role from top to bottom, starting at 0.
func stacked(g Graph, role Role) (stack []*box, width, height float64) {
	for _, n := range g.Nodes {
		if n.Role != role {
			continue
		}
		b := &box{Node: n, y: height, h: 2*padding + lineHeight*float64(1+len(n.Text))}
		width = max(width, textWidth(n.Title)*bold)
		for _, line := range n.Text {
			width = max(width, textWidth(line))
		}
		stack = append(stack, b)
		height += b.h + gapDown
	}
	return stack, max(width, textWidth(heads[role])) + 2*padding, height - gapDown
}

func textWidth(text string) float64 { return letter * float64(utf8.RuneCountInString(text)) }

// SVG prints a self-contained picture for light and dark mode.
func (g Graph) SVG(w io.Writer) error {
	p := layout(g)
	var b strings.Builder
	fmt.Fprintf(
		&b,
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img" aria-label="%s">`+"\n",
		p.width,
		p.height,
		p.width,
		p.height,
		escape(g.Title),
	)
	b.WriteString(style())
	fmt.Fprintf(&b, `<rect class="ground" width="%.0f" height="%.0f"/>`+"\n", p.width, p.height)
	fmt.Fprintf(&b, `<text class="title" x="%d" y="%d">%s</text>`+"\n", margin, margin+8, escape(g.Title))
	for _, e := range g.Edges {
		p.edge(&b, e)
	}
	named := map[Role]bool{}
	for _, n := range p.order {
		if head := heads[n.Role]; head != "" && !named[n.Role] {
			named[n.Role] = true
			fmt.Fprintf(
				&b,
				`<text class="head" x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n",
				n.x+n.w/2,
				titleSpace+margin/2,
				escape(head),
			)
		}
		n.draw(&b)
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func (n *box) draw(b *strings.Builder) {
	fmt.Fprintf(
		b,
		`<g data-node="%s"><rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="7"/>`+"\n",
		n.ID,
		n.Role,
		n.x,
		n.y,
		n.w,
		n.h,
	)
	y := n.y + padding + lineHeight*0.75
	fmt.Fprintf(b, `<text class="name" x="%.1f" y="%.1f" text-anchor="middle">%s</text>`+"\n", n.x+n.w/2, y, escape(n.Title))
	for i, line := range n.Text {
		fmt.Fprintf(
			b,
			`<text class="line" x="%.1f" y="%.1f" text-anchor="middle">%s</text>`+"\n",
			n.x+n.w/2,
			y+lineHeight*float64(i+1),
			escape(line),
		)
	}
	b.WriteString("</g>\n")
}

// edge draws an edge from the right side of a box to the left side of the next;
// those of the resync lead up to the bottom of a box.
func (p picture) edge(b *strings.Builder, e Edge) {
	from, to := p.boxes[e.From], p.boxes[e.To]
	if from == nil || to == nil {
		return
	}
	class := "edge"
	var path string
	var x, y float64
	anchor := "middle"
	if e.Repair {
		class = "repair"
		side := from.x
		x, anchor = side-padding, "end"
		if to.x > from.x {
			side = from.x + from.w
			x, anchor = side+padding, "start"
		}
		x1, y1, x2, y2 := side, from.y+from.h/2, to.x+to.w/2, to.y+to.h
		path = fmt.Sprintf("M%.1f,%.1f C%.1f,%.1f %.1f,%.1f %.1f,%.1f", x1, y1, x2, y1, x2, y1, x2, y2+7)
		y = y1 + lineHeight
	} else {
		x1, y1, x2, y2 := from.x+from.w, from.y+from.h/2, to.x, to.y+to.h/2
		bend := (x2 - x1) / 2
		path = fmt.Sprintf("M%.1f,%.1f C%.1f,%.1f %.1f,%.1f %.1f,%.1f", x1, y1, x1+bend, y1, x2-bend, y2, x2-7, y2)
		x, y = x1+(x2-x1)*along(0.5, 0.5), y1+(y2-y1)*along(0, 1)-5
	}
	fmt.Fprintf(b, `<path class="%s" data-from="%s" data-to="%s" d="%s" marker-end="url(#%s)"/>`+"\n", class, e.From, e.To, path, class)
	if e.Label != "" {
		fmt.Fprintf(b, `<text class="label" x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", x, y, anchor, escape(e.Label))
	}
}

// along returns the position of a label on a curve with these control points. It is
// closer to the end, because many edges may start at the same box.
func along(first, second float64) float64 {
	const t = 0.65
	return 3*first*t*(1-t)*(1-t) + 3*second*t*t*(1-t) + t*t*t
}

func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(terminal.Escape(text))) // a strings.Builder never fails
	return b.String()
}

// style sets the colours by role.
func style() string {
	var b strings.Builder
	b.WriteString("<style>\n" +
		"text { font-family: system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; font-size: 13px; fill: #1a1a1a }\n" +
		".ground { fill: #ffffff } .title { font-size: 16px; font-weight: 600 } .head { font-size: 11px; fill: #6b7280 }\n" +
		".name { font-weight: 600 } .label { font-size: 11px; fill: #4b5563; paint-order: stroke; stroke: #ffffff; stroke-width: 4px }\n" +
		".edge { fill: none; stroke: #6b7280; stroke-width: 1.4 } .repair { fill: none; stroke: #c5503f; stroke-width: 1.4; " +
		"stroke-dasharray: 5 4 }\n")
	for _, role := range append(columns, Resync) {
		fmt.Fprintf(&b, "rect.%s { fill: %s; stroke: %s; stroke-width: 1.4 }\n", role, fills[role], strokes[role])
	}
	b.WriteString(
		"@media (prefers-color-scheme: dark) { .ground { fill: #0d1117 } .title { fill: #e6edf3 } .head, .label { fill: #9aa4b2 } " +
			".label { stroke: #0d1117 } }\n" +
			"</style>\n<defs>\n",
	)
	b.WriteString(arrowHead("edge", "#6b7280") + arrowHead("repair", strokes[Resync]) + "</defs>\n")
	return b.String()
}

func arrowHead(class, colour string) string {
	return fmt.Sprintf(
		`<marker id="%s" viewBox="0 0 8 8" refX="1" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0,0 L8,4 L0,8 z" `+
			`fill="%s"/></marker>`+"\n",
		class,
		colour,
	)
}

// HTML prints a page with all graphs.
func HTML(w io.Writer, graphs []Graph) error {
	var b strings.Builder
	b.WriteString(
		"<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"color-scheme\" content=\"light " +
			"dark\">\n<title>argoperator graph</title>\n" +
			"<style>body { margin: 2rem; font-family: system-ui, sans-serif } figure { margin: 0 0 3rem; overflow-x: auto " +
			"}</style>\n</head>\n<body>\n",
	)
	for _, g := range graphs {
		fmt.Fprintf(&b, "<figure>\n<figcaption hidden>%s</figcaption>\n", escape(g.Title))
		if err := g.SVG(&b); err != nil {
			return err
		}
		b.WriteString("</figure>\n")
	}
	b.WriteString("</body>\n</html>\n")
	_, err := io.WriteString(w, b.String())
	return err
}
