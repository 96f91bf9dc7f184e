package definition

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/chart"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
	"github.com/argoperator/argoperator/templates"
)

// ChartProgram is the file that renders the chart, among the files of the logic.
const ChartProgram = "chart.sh"

// chartDir is the directory of the chart among the files of the logic.
const chartDir = "chart/"

// readChart reads the chart of the logic, and adds its files and those that render it to
// the files of the logic.
func (c *checker) readChart() {
	logic := c.op.Spec.Logic
	p := source.PathOf("spec", "logic", "chart")
	if logic == nil || !c.has(logic.Chart, p) {
		return
	}
	files, ok := c.chartFiles(p, logic.Chart)
	if !ok {
		return
	}
	read, err := chart.New(files, maxReferred)
	if err != nil {
		c.add(p, diag.BadChart, fmt.Sprintf("%s is not a chart: %v", logic.Chart, err),
			"write the directory with Chart.yaml, or the .tgz file")
		return
	}
	c.def.Chart, c.def.Files = read, programOfCharts()
	total := 0
	for _, f := range read.Files {
		total += len(f.Data)
		c.chartFile(p, f)
		c.def.Files = append(c.def.Files, File{chartDir + f.Path, string(f.Data)})
	}
	if total > maxFiles {
		c.add(p, diag.TooLarge, fmt.Sprintf("the chart has %d KiB, more than %d", total>>10, maxFiles>>10),
			"argoperator stores it in a ConfigMap, whose size is limited; list what the templates do not need in .helmignore")
	}
	c.chart(p, read)
}

// programOfCharts returns argoperator's own files for charts.
func programOfCharts() []File {
	var out []File
	err := fs.WalkDir(templates.Chart, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := templates.Chart.ReadFile(name)
		out = append(out, File{strings.TrimPrefix(name, "chart/"), string(text)})
		return err
	})
	if err != nil {
		panic(fmt.Sprintf("definition: embedded files cannot be read: %v", err)) // unreachable
	}
	return out
}

// chartFiles reads the files of a chart from a directory or an archive.
func (c *checker) chartFiles(p source.Path, name string) ([]chart.File, bool) {
	dir := path.Clean(name)
	var info fs.FileInfo
	if c.in.Dir != nil && fs.ValidPath(dir) {
		info, _ = fs.Stat(c.in.Dir, dir) // readFile reports what is not there
	}
	if info == nil || !info.IsDir() {
		data, ok := c.readFile(p, name)
		if !ok {
			return nil, false
		}
		files, err := chart.Unpack(data, maxReferred)
		if err != nil {
			c.add(p, diag.BadChart, fmt.Sprintf("%s is not an archive of a chart: %v", name, err),
				"write the directory of the chart, or a file that helm package wrote")
		}
		return files, err == nil
	}
	below, err := fs.Sub(c.in.Dir, dir)
	if err != nil {
		panic(fmt.Sprintf("definition: a valid path is refused: %v", err)) // unreachable
	}
	names, err := chart.List(below)
	if err != nil {
		c.add(p, diag.NotAFile, fmt.Sprintf("%s cannot be read: %v", name, err), "")
		return nil, false
	}
	var files []chart.File
	for _, file := range names {
		data, ok := c.readFile(p, path.Join(dir, file))
		if !ok {
			return nil, false
		}
		files = append(files, chart.File{Path: file, Data: data})
	}
	return files, true
}

// chartFile reports a file that a ConfigMap cannot contain.
func (c *checker) chartFile(p source.Path, f chart.File) {
	const hint = "list it in .helmignore if the templates do not need it"
	if source.NotText(f.Data) >= 0 {
		c.add(p, diag.InvalidUTF8, f.Path+" of the chart is not UTF-8 text", hint)
	}
	if len(validation.IsConfigMapKey(strings.ReplaceAll(chartDir+f.Path, "/", "__"))) > 0 {
		c.add(p, diag.BadName, fmt.Sprintf("the path %s of the chart cannot be a key of a ConfigMap", f.Path),
			"use letters, digits, '-', '_' and '.' in file names, at most 240 characters in a path; or "+hint)
	}
}

// chart reports what Helm cannot render, and what is different without an installation by
// Helm.
func (c *checker) chart(p source.Path, read chart.Chart) {
	for _, missing := range read.Missing() {
		c.add(p, diag.BadChart, "the chart lacks the dependency "+missing+", and helm template refuses it",
			"run in the directory of the definition: helm dependency build "+c.op.Spec.Logic.Chart)
	}
	if read.Type == "library" {
		c.add(p, diag.BadChart, read.Name+" is a library chart, which has no objects", "write an application chart that uses it")
	}
	uses := read.Uses()
	for _, one := range []struct {
		code, message, hint string
		places              []chart.Place
	}{
		{
			diag.ChartRandom, "%s has another result for each call, so each reconcile would change the objects",
			"give the value in the spec, or refer to a Secret that exists", uses.Random,
		},
		{
			diag.ChartRandom, "%s has another order for each call, so each reconcile would change the objects",
			"sort the list: keys MAP | sortAlpha", uses.Unsorted,
		},
		{
			diag.ChartDiffers, "%s finds nothing: the chart has no access to the cluster",
			"give the value in the spec", uses.Lookup,
		},
		{
			diag.ChartDiffers, "a hook of Helm (%s) is left out: an operator has no installation that it could run before or after",
			"make it an object of the chart without the annotation, or run it outside of the operator", uses.Hooks,
		},
		{
			diag.ChartDiffers, "%s is always that of a first installation",
			"make the objects the same in both cases", uses.Release,
		},
		{
			diag.ChartDiffers, "the CustomResourceDefinitions of the chart are not applied, such as %s",
			"apply them before the operator: kubectl apply --server-side -f FILE", firstOf(uses.CRDs),
		},
	} {
		for _, place := range one.places {
			c.warn(p, one.code, fmt.Sprintf("%s:%d: "+one.message, place.File, place.Line, place.What), one.hint)
		}
	}
	c.chartKept(p, uses.Kept)
	c.chartKinds(p, uses.Kinds)
}

func firstOf(places []chart.Place) []chart.Place { return places[:min(1, len(places))] }

// makes reports whether a child is declared for a kind of the chart.
func makes(child v1alpha1.Child, k chart.Kind) bool {
	return child.Kind == k.What && (k.APIVersion == "" || child.APIVersion == k.APIVersion)
}

// chartKept warns of objects that an uninstallation by Helm keeps, and the operator deletes.
func (c *checker) chartKept(p source.Path, kept []chart.Kind) {
	for _, k := range kept {
		orphan := func(child v1alpha1.Child) bool {
			return child.OnDelete == "Orphan" && (k.What == "" || makes(child, k))
		}
		if slices.ContainsFunc(c.op.Spec.Children, orphan) {
			continue
		}
		c.warn(p, diag.ChartDiffers,
			fmt.Sprintf("%s:%d: helm.sh/resource-policy has no effect: the operator deletes the %s with the custom resource",
				k.File, k.Line, cmp.Or(k.What, "object")),
			fmt.Sprintf("write onDelete: Orphan in the entry of children for %s", cmp.Or(k.What, "its kind")))
	}
}

// chartKinds warns of templates for kinds that are not declared: the operator has no right
// to them, and refuses them.
func (c *checker) chartKinds(p source.Path, kinds []chart.Kind) {
	for _, k := range kinds {
		declared := func(child v1alpha1.Child) bool { return makes(child, k) }
		if k.What == "List" || slices.ContainsFunc(c.op.Spec.Children, declared) {
			continue
		}
		version := cmp.Or(k.APIVersion, "GROUP/VERSION")
		c.warn(p, diag.UndeclaredKind,
			fmt.Sprintf("%s:%d: children has no %s of %s, so a reconcile that renders it fails", k.File, k.Line, k.What, version),
			fmt.Sprintf("add {name: %s, apiVersion: %s, kind: %s} to children", strings.ToLower(k.What), version, k.What))
	}
}
