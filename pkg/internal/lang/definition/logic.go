package definition

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/base/imagename"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// logic checks the image and the command.
func (c *checker) logic() {
	p := source.PathOf("spec", "logic")
	if c.op.Spec.Logic == nil {
		if !c.anyTemplate() && len(c.op.Spec.Patches) == 0 && !c.rejectedChild() {
			c.nothingToDo()
		}
		return
	}
	logic := c.op.Spec.Logic
	c.logicForm(p)
	c.image(logic.Image, p.To("image"))
	if c.Written(p.To("command")) && len(logic.Command) == 0 {
		c.add(p.To("command"), diag.BadValue, "command is empty", "write the program and its arguments: [python3, main.py]")
	}
	if len(logic.Command) > 0 {
		c.has(logic.Command[0], p.To("command", 0))
	}
	for i, arg := range logic.Command {
		c.commandFile(arg, p.To("command", i))
	}
	c.pythonModules(p)
	if logic.Hook != nil {
		c.hook(*logic.Hook, p.To("hook"))
	}
}

// hook checks the address of a server.
func (c *checker) hook(h v1alpha1.Hook, p source.Path) {
	switch h.Port {
	case v1alpha1.EventsPort, v1alpha1.MetricsPort:
		c.add(p.To("port"), diag.BadValue, fmt.Sprintf("port %d is taken by argoperator's own container in the same pod", h.Port),
			"let the server listen on another port, such as 9000")
	default:
		if c.Written(p.To("port")) && len(validation.IsValidPortNum(int(h.Port))) > 0 {
			c.add(p.To("port"), diag.BadValue, fmt.Sprintf("port is %d, want 1 to 65535", h.Port), "")
		}
	}
	c.urlPath(h.Path, p.To("path"), "/sync")
	if at := p.To("finalizePath"); c.Written(at) {
		c.urlPath(h.FinalizePath, at, "/finalize")
		if !c.Written(source.PathOf("spec", "finalizer")) {
			c.addKey(at, diag.ConflictingKeys, "finalizePath has no effect without spec.finalizer",
				"write finalizer: {} in spec, or remove the key")
		}
	}
}

// urlPath checks a path of the server.
func (c *checker) urlPath(text string, p source.Path, example string) {
	if u, err := url.ParseRequestURI(text); err != nil || u.RequestURI() != text {
		c.add(p, diag.BadValue, fmt.Sprintf("%q is not the path of an address", text),
			"write a path that begins with /, such as "+example)
	}
}

// logicForm reports missing keys of a program, and those that a chart excludes.
func (c *checker) logicForm(p source.Path) {
	if !c.Written(p.To("chart")) {
		for _, key := range []string{"command", "files", "image"} {
			c.missing(p, key, source.Example("Logic", key))
		}
	}
	for _, key := range []string{"command", "files", "parameters", "hook"} {
		if c.Written(p.To("chart")) && c.Written(p.To(key)) {
			c.addKey(p.To(key), diag.ConflictingKeys, key+" and chart exclude each other", "remove "+key+": helm renders the chart")
		}
	}
}

// rejectedChild reports whether the list of children, or an entry of it, was rejected.
func (c *checker) rejectedChild() bool {
	p := source.PathOf("spec", "children")
	for i := range c.op.Spec.Children {
		if c.wasRejected(p.To(i)) {
			return true
		}
	}
	return c.wasRejected(p)
}

// nothingToDo reports a definition that makes no object.
func (c *checker) nothingToDo() {
	const (
		example = `children: [{name: config, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${ .metadata.name }"}}}]`
		program = "logic: {image: python:3.13-slim, command: [python3, main.py], files: [logic/main.py]}"
	)
	if !c.Written(source.PathOf("spec", "children")) {
		c.missing(source.PathOf("spec"), "children", "write "+example+"; with a program that computes the children, also write "+program)
		return
	}
	c.missing(source.PathOf("spec"), "logic", "give a child a template, as in "+example+", or write a program that makes it: "+program)
}

// isReference reports whether the kubelet accepts a text as an image.
func isReference(image string) bool { return imagename.Validate(image) == nil }

func (c *checker) image(image string, p source.Path) {
	if !c.has(image, p) {
		return
	}
	if !isReference(image) {
		c.add(
			p,
			diag.BadValue,
			fmt.Sprintf("%q is not an image", image),
			"write an image, such as python:3.13-slim or registry.example.com/team/image:1.2.3",
		)
		return
	}
	_, tag, tagged := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
	if !strings.Contains(image, "@") && (!tagged || tag == "latest") {
		c.warn(
			p,
			diag.UnpinnedImage,
			fmt.Sprintf("the image %s has no fixed version", image),
			"add a version, such as python:3.13-slim, so that the operator does not change unexpectedly",
		)
	}
}

// commandFile warns of an argument that names a script which is not among the logic's
// files.
func (c *checker) commandFile(arg string, p source.Path) {
	scripts := []string{".py", ".js", ".mjs", ".cjs", ".ts", ".sh", ".bash", ".rb", ".pl", ".php", ".lua", ".jq", ".R", ".tcl"}
	if !slices.Contains(scripts, path.Ext(arg)) || path.IsAbs(arg) || strings.HasPrefix(arg, "-") || strings.ContainsAny(arg, " \n:") {
		return
	}
	var names []string
	for _, f := range c.def.Files {
		names = append(names, f.Path)
	}
	name := path.Clean(arg)
	if slices.Contains(names, name) || c.filesRejected() {
		return
	}
	hint := "add it to files"
	if short := path.Base(name); slices.Contains(names, short) {
		hint = fmt.Sprintf("write %s: paths in the pod begin below the directory that all files share", short)
	} else if best := source.Nearest(name, names); best != "" {
		hint = "did you mean " + best + "?"
	}
	c.warn(p, diag.MissingCommandFile, fmt.Sprintf("the command names %s, which is not among the files", arg), hint)
}

// filesRejected reports whether a file could not be read, so that the list of files is
// incomplete.
func (c *checker) filesRejected() bool {
	return c.wasRejected(source.PathOf("spec", "logic", "files")) || len(c.def.Files) < len(c.op.Spec.Logic.Files)
}
