package plan

import (
	"embed"
	"slices"

	"github.com/argoperator/argoperator/pkg/internal/jq/jqfile"
)

// directFiles are the sources of the programs, with their comments.
//
//go:embed direct/*.jq
var directFiles embed.FS

// Explained is a program of a Sensor with the comments of its source.
type Explained struct {
	Sensor string
	Names  []string // of the dependencies that have it
	Child  string   // empty: it is for no single child
	About  string   // what it does
	Text   string
}

// Explained returns the programs of the Sensors.
func (p *Plan) Explained() []Explained {
	var out []Explained
	for _, s := range p.Sensors {
		for _, d := range s.Dependencies {
			comments, err := jqfile.ReadComments(directFiles, "direct/prelude.jq", "direct/ready.jq", "direct/"+d.Made.File+".jq")
			if err != nil {
				panic("plan: " + err.Error()) // unreachable: the file is named in this package
			}
			text := comments.On(d.JQ)
			if i := slices.IndexFunc(out, func(e Explained) bool { return e.Sensor == s.Name && e.Text == text }); i >= 0 {
				out[i].Names = append(out[i].Names, d.Name)
				continue
			}
			out = append(out, Explained{Sensor: s.Name, Names: []string{d.Name}, Child: d.Made.Child, About: comments.About, Text: text})
		}
	}
	return out
}
