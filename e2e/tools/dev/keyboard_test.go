package dev

import (
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// mostTabs is more than the page has places for the focus.
const mostTabs = 60

// tabTo presses Tab until an element has the focus.
func (p *tab) tabTo(selector string) {
	p.t.Helper()
	for range mostTabs {
		if value[bool](p, "document.activeElement.matches(%s)", selector) {
			return
		}
		p.press(kb.Tab)
	}
	p.t.Fatalf("Tab does not reach %s", selector)
}

// TestKeyboard uses the page without a mouse.
func TestKeyboard(t *testing.T) {
	s := start(t, "-f", memcached)
	for _, name := range []string{"one", "two"} {
		s.kubectlIn(resource(name, "{size: 1}"), "create", "-f", "-")
		s.ready("memcached/" + name)
	}
	p := newBrowser(t).open(s.url)
	p.sees("[data-test=connection]", "Connected")
	p.sees(object("Deployment", "two") + ".ready-True")

	p.run("objects", func(*testing.T) {
		p.tabTo("[data-test=tree]")
		p.press(kb.Home)
		p.sees(object("Memcached", "one") + "[aria-selected=true][aria-expanded=true]")
		p.sees("[data-test=details] h2", "one ready")
		p.press(kb.ArrowLeft)
		p.sees(object("Memcached", "one") + "[aria-expanded=false]")
		p.seesNo(object("Deployment", "one"))
		p.press(kb.ArrowRight)
		p.press(kb.ArrowDown)
		p.sees(object("Deployment", "one") + "[aria-selected=true]")
		p.press(kb.ArrowLeft, kb.ArrowLeft)
		p.sees(object("Memcached", "one") + "[aria-selected=true]")
		p.press(kb.ArrowRight, kb.Enter)
		p.until("the focus in the details", "document.activeElement.closest('[data-test=details]')")
		p.sees("[data-test=details] h2", "one ready")
		p.sees("[data-test=details]", "all children are ready (1)", "Events") // nothing is drawn again
		p.tabTo("[data-test=edit-object]")
		p.press(kb.Enter)
		p.sees("[data-test=doc-object][aria-selected=true]", "Memcached one")
		p.until("the focus in the editor", "document.activeElement.matches('.cm-content')")
	})

	p.run("timeline", func(*testing.T) {
		p.press(kb.Escape, kb.Tab) // leaves the editor
		p.tabTo("[data-test=timeline-list]")
		p.press(kb.End)
		p.sees("[data-test=timeline-row][aria-selected=true]")
		p.sees("[data-test=details] h2")
		p.press(kb.Home)
		p.sees("[data-test=details] h2", "objects of the operator applied")
		p.press(kb.ArrowDown)
		p.sees("[data-test=details] h2", "ADD Memcached default/one")
	})

	p.run("switches and buttons", func(*testing.T) {
		p.tabTo("[data-test=switch-sensorDown]")
		p.press(" ")
		p.sees("[data-test=switch-sensorDown][aria-checked=true]", "Sensor is down")
		p.press(kb.Enter)
		p.sees("[data-test=switch-sensorDown][aria-checked=false]", "Sensor down")
		p.tabTo("[data-test=resync]")
		p.press(kb.Enter)
		p.sees("[data-test=toast]", "The CronWorkflow runs")
	})

	p.run("editor", func(*testing.T) {
		p.tabTo("#views [role=tab][aria-selected=true]")
		p.press(kb.Home, kb.ArrowRight)
		p.sees("[data-test=tab-editor][aria-selected=true]")
		p.tabTo("[data-test=editor-tabs] [role=tab]")
		p.press(kb.Home, kb.ArrowRight)
		p.sees("[data-test=doc-new][aria-selected=true]")
		p.tabTo(".cm-content")
		p.control("a")
		p.press(kb.Delete)
		for _, r := range `{apiVersion: cache.example.com/v1alpha1, kind: Memcached, metadata: {name: typed}, spec: {size: 1}}` {
			p.press(string(r))
		}
		p.control("s")
		p.sees(object("Memcached", "typed") + ".ready-True")
		p.press(kb.Escape, kb.Tab)
		p.until("the focus outside of the editor", "!document.activeElement.matches('.cm-content')")
	})

	p.run("shortcuts", func(*testing.T) {
		focus := func(key, selector string) {
			p.t.Helper()
			p.press(key)
			p.until("the focus at "+selector, "document.activeElement.matches(%s)", selector)
		}
		p.tabTo("[data-test=help]")
		p.press(kb.Enter)
		p.sees("[data-test=shortcuts][open]", "Keyboard shortcuts")
		p.press(kb.Escape)
		p.seesNo("[data-test=shortcuts][open]")
		focus("o", "[data-test=tree]")
		focus("t", "[data-test=timeline-list]")
		focus("d", "[data-test=details]")
		focus("s", "[data-test=tests]")
		focus("e", ".cm-content")
		p.press(kb.Escape, kb.Tab)
		p.tabTo("[data-test=help]") // a key in the list of samples chooses one
		focus("/", "[data-test=objects-filter]")
		p.press("t", "w", "o")
		p.seesNo(object("Memcached", "one"))
		p.sees(object("Memcached", "two"))
	})

	p.run("every control has a name", func(t *testing.T) {
		nameless := value[[]string](p, `all('button, input, select, [role=tab], [role=switch], [role=tree], [role=listbox]')
  .filter((e) => !(e.textContent.trim() || e.getAttribute('aria-label') || e.title || e.labels?.length))
  .map((e) => e.outerHTML.slice(0, 100))`)
		for _, e := range nameless {
			t.Errorf("no name: %s", e)
		}
	})
}
