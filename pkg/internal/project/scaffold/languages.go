package scaffold

import "slices"

// language describes how to run a program of a language.
type language struct {
	name    string
	ending  string // file name extension in a project
	program string // template of the program in templates/init/logic, after the kind of child
	image   string
	command string
	comment []string
	memory  string
}

// languages are listed in the order in which they are offered. To add one, add its
// programs to templates/init/logic and a line here.
func languages() []language {
	return []language{
		{
			name: "python", ending: "py", program: ".py",
			image: "docker.io/library/python:3.13-slim", command: "[python3, main.py]",
		},
		{
			name: "node", ending: "mjs", program: ".mjs",
			image: "docker.io/library/node:22-alpine", command: "[node, main.mjs]",
		},
		{
			name: "sh", ending: "sh", program: ".sh",
			image: "docker.io/alpine/k8s:1.33.4", command: "[sh, main.sh]",
			comment: []string{"the image contains jq, with which a shell reads and writes JSON"},
		},
		{
			name: "go", ending: "go", program: ".go.tmpl",
			image: "docker.io/library/golang:1.26-alpine", memory: "1Gi",
			command: `[sh, -c, 'test -w "$HOME" || export GOCACHE=/tmp/go-build; exec go run main.go']`,
			comment: []string{
				"run from source: each pod compiles the standard library first, about ten seconds of CPU. In a pod, only /tmp is",
				"writable. On your machine, the cache of Go makes it quick",
			},
		},
	}
}

// Languages returns the values of Options.Logic.
func Languages() []string {
	var out []string
	for _, l := range languages() {
		out = append(out, l.name)
	}
	return out
}

// program adds a program that renders a child of the given kind.
func (p *Project) program(name, child string) {
	all := languages()
	i := slices.IndexFunc(all, func(l language) bool { return l.name == name })
	if i < 0 {
		return // reported by Options.Problems
	}
	l := all[i]
	file := "logic/main." + l.ending
	p.Logic = &Logic{Image: l.image, Command: l.command, Comment: l.comment, Files: []string{file}, Memory: l.memory}
	p.Parts = append(p.Parts, Part{file, "logic/" + l.name + "/" + child + l.program})
}
