package dev

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestEditor edits a definition and custom resources in the page.
func TestEditor(t *testing.T) {
	dir := copyOf(t, "examples/memcached")
	file := filepath.Join(dir, "operator.yaml")
	onDisk := func() string {
		t.Helper()
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	s := start(t, "-f", dir)
	p := newBrowser(t).open(s.url)
	p.apply(resource("web", "{size: 1}"))
	p.sees(object("Deployment", "web")+".ready-True", "1 of 1 ready")

	p.run("shows findings of a definition at their place", func(t *testing.T) {
		before := onDisk()
		p.openDefinition()
		p.replace("replicas: ${ .spec.size }", "replicas: ${ .spec.syze }")
		p.sees(".cm-content .cm-lintRange-error", "syze")
		p.sees("[data-test=finding]", "syze", "operator.yaml:32:")
		p.sees("[data-test=doc-state]", "Unsaved changes")
		if onDisk() != before {
			t.Error("the page wrote the file before somebody saved it")
		}
	})

	p.run("keeps the operator while the saved file has errors", func(t *testing.T) {
		p.click("[data-test=save]")
		p.sees("[data-test=toast]", "Saved with 1 error")
		p.sees("[data-test=messages] [role=alert]", "The definition has 1 error. The previous definition still runs.")
		if !strings.Contains(onDisk(), ".spec.syze") {
			t.Error("the file is not saved")
		}
		s.kubectl("delete", "deployment", "web")
		p.sees(object("Deployment", "web")+".ready-True", "1 of 1 ready")
	})

	p.run("changes the operator with the saved file", func(*testing.T) {
		p.replace(".spec.syze", ".spec.size + 1")
		p.seesNo("[data-test=finding]")
		p.control("s")
		p.sees("[data-test=toast]", "Saved ")
		p.sees("[data-test=findings]", "No findings")
		p.sees(object("Deployment", "web")+".ready-True", "2 of 2 ready")
	})

	p.run("does not overwrite a file that changed on disk", func(t *testing.T) {
		p.replace("maximum=100", "maximum=50")
		theirs := strings.Replace(onDisk(), "maximum=100", "maximum=20", 1)
		if err := os.WriteFile(file, []byte(theirs), 0o644); err != nil {
			t.Fatal(err)
		}
		p.sees("[data-test=editor-banner]", "The file changed on disk, and you have unsaved changes")
		p.click("[data-test=save]")
		p.sees("[data-test=toast]", "changed on disk. Choose which text to keep")
		if onDisk() != theirs {
			t.Errorf("the page overwrote the file:\n%s", onDisk())
		}
		if !strings.Contains(p.edited(), "maximum=50") {
			t.Error("the unsaved text is lost")
		}
		p.click("[data-test=take-newer]")
		p.until("the text on disk", "("+editorView+")?.state.doc.toString() === %s", theirs)
		p.sees("[data-test=doc-state]", "Saved")
	})

	p.run("keeps unsaved text when the page loads again", func(t *testing.T) {
		p.openDefinition()
		p.replace("maximum=20", "maximum=30")
		p.do(chromedp.Reload())
		p.sees("[data-test=connection]", "Connected")
		p.until("the unsaved text", "("+editorView+")?.state.doc.toString().includes('maximum=30')")
		p.sees("[data-test=doc-state]", "Unsaved changes")
		if strings.Contains(onDisk(), "maximum=30") {
			t.Error("the page wrote the file")
		}
		p.click("[data-test=revert]")
		p.until("the text on disk", "("+editorView+")?.state.doc.toString() === %s", onDisk())
	})

	p.run("keeps an unsaved custom resource when the page loads again", func(*testing.T) {
		p.click("[data-test=new-object]")
		p.paste(resource("draft", "{size: 7}"))
		p.do(chromedp.Reload())
		p.sees("[data-test=connection]", "Connected")
		p.sees("[data-test=doc-new][aria-selected=true]")
		p.until("the unsaved text", "("+editorView+")?.state.doc.toString().includes('name: draft')")
		p.seesNo("[data-test=editor-banner]")
	})

	p.run("does not overwrite an object that changed meanwhile", func(t *testing.T) {
		p.click(object("Memcached", "web"))
		p.click("[data-test=edit-object]")
		p.sees("[data-test=doc-object][aria-selected=true]", "Memcached web")
		p.replace("  size: 1\n", "  size: 2\n")
		s.kubectl("patch", "memcached", "web", "--type=merge", "-p", `{"spec":{"memory":128}}`)
		p.sees("[data-test=editor-banner]", "The object changed, and you have unsaved changes")
		p.click("[data-test=apply]")
		p.sees("[data-test=toast]", "Memcached default/web changed meanwhile. Choose which text to keep")
		spec := func() string {
			return s.kubectl("get", "memcached", "web", "-o", "jsonpath={.spec.size} {.spec.memory}")
		}
		if got := spec(); got != "1 128" {
			t.Errorf("size and memory are %s, want 1 128", got)
		}
		p.click("[data-test=overwrite]")
		p.sees("[data-test=toast]", "Memcached web configured")
		eventually(t, "size and memory", "2 64", spec)
	})

	p.run("shows what the schema forbids at its line", func(*testing.T) {
		p.click("[data-test=new-object]")
		for _, wrong := range []struct{ spec, line, message string }{
			{"\n  memory: 64\n  size: many", "7", "spec.size: expected numeric"},
			{"\n  size: 21", "6", "less than or equal to 20"},
			{"\n  size: 1\n  sise: 2", "7", "spec.sise: field not declared"},
		} {
			p.paste(resource("wrong", wrong.spec))
			p.sees("[data-test=finding]", wrong.message, wrong.line)
			p.sees(".cm-content .cm-lintRange-error")
		}
		p.click("[data-test=apply]")
		p.sees("[data-test=toast]", "The API server did not accept the YAML")
		p.seesNo(object("Memcached", "wrong"))
		p.paste(resource("wrong", "{size: 1}"))
		p.seesNo("[data-test=finding]")
	})

	p.run("completes keys and values of the schema", func(*testing.T) {
		p.paste("apiVersion: cache.example.com/v1alpha1\nkind: Memcached\nmetadata:\n  name: complete\nspec:\n  size: 1")
		p.control(kb.End)
		p.until("the cursor at the end", "("+editorView+")?.state.selection.main.head === ("+editorView+")?.state.doc.length")
		p.press(kb.Enter, "m")
		p.sees(".cm-tooltip-autocomplete li[aria-selected=true]", "memory", "integer")
		p.sees(".cm-completionInfo", "Memory of each server in MiB")
		p.click(".cm-tooltip-autocomplete li", "memory")
		p.until("the completed key", "("+editorView+")?.state.doc.toString().endsWith('\\n  memory: ')")
		p.openDefinition()
		for _, c := range []struct{ old, now, typed, next, option string }{
			{"  status:\n    readyReplicas: ${", "  fin\n  status:\n    readyReplicas: ${", "  fin", "a", "finalize"},
			{"        selector:\n", "        pau\n        selector:\n", "  pau", "s", "paused"}, // of the Deployment in the template
		} {
			p.replace(c.old, c.now)
			p.until("the cursor", fmt.Sprintf(`(() => {
  const view = %s;
  const at = view.state.doc.toString().indexOf('%s\n') + %d;
  view.dispatch({selection: {anchor: at}, scrollIntoView: true});
  view.focus();
  return view.state.selection.main.head === at;
})()`, editorView, c.typed, len(c.typed)))
			p.press(c.next)
			p.sees(".cm-tooltip-autocomplete li", c.option)
		}
	})
}

// openDefinition shows the file of the definition in the editor.
func (p *tab) openDefinition() {
	p.t.Helper()
	p.click("[data-test=tab-editor]")
	p.click("[data-test=doc-file]")
	p.until("the definition", "("+editorView+")?.state.doc.toString().includes('kind: Operator')")
}
