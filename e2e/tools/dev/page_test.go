package dev

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPage creates a custom resource in the page and follows it until it is ready.
func TestPage(t *testing.T) {
	s := start(t, "-f", memcached)
	p := newBrowser(t).open(s.url)
	p.sees("[data-test=connection]", "Connected")
	p.sees("[data-test=operators]", "memcached", "Memcached", "direct")
	p.observeGraph()
	p.sees("[data-test=definition]", "Applied")
	p.click("[data-test=timeline-all]")

	p.click("[data-test=new-object]")
	p.until("the sample", "("+editorView+")?.state.doc.toString().includes('kind: Memcached')")
	p.click("[data-test=apply]")
	p.sees("[data-test=tree-row].ready-True", "Memcached", "memcached")
	p.sees("[data-test=tree-row].ready-True", "Deployment", "3 of 3 ready")
	p.sees("[data-test=tree-row].ready-True", "Pod", "Running")
	p.sees("[data-test=timeline-row].type-action", "You applied Memcached")
	p.sees("[data-test=timeline-row].type-event", "ADD Memcached memcached")

	p.click("[data-test=timeline-row].type-delivery", "child-deployment", "PATCH Deployment default/memcached", "201")
	p.sees("[data-test=details] h2", "child-deployment", "Done")
	p.click("[data-test=details] summary", "Program (jq)")
	p.sees("[data-test=details] pre.code", ".body")
	p.click("[data-test=details] summary", "Input")
	p.sees("[data-test=details] [data-test=json]", "oldBody")
	p.sees("[data-test=details] summary", "Output")
	p.click("[data-test=details] [data-test=call]", "PATCH", "201")
	p.sees("[data-test=details] .part", "Body", `kind: "Deployment"`, "replicas: 3")
	p.sees("[data-test=details] .part", "Answer", "resourceVersion")
	p.sees("[data-test=details] .facts", "/apis/apps/v1/namespaces/default/deployments/memcached", "memcached-sensor")

	lit := value[[]string](p, "[...window.lit]")
	for _, node := range []string{"change_memcacheds_cache_example_com_custom_resources", "source", "bus", "sensor_0", "child_deployment_deployments", "status"} {
		if !slices.Contains(lit, node) {
			t.Errorf("the node %s did not light up, but %s", node, strings.Join(lit, ", "))
		}
	}
}

// TestConnectionLost ends the command while its page is open, and starts it again: the page
// goes on with the new session, which does not have the objects of the old one.
func TestConnectionLost(t *testing.T) {
	s := start(t, "-f", memcached)
	p := newBrowser(t).open(s.url)
	p.sees("[data-test=connection]", "Connected")
	s.kubectlIn(resource("web", "{size: 1}"), "create", "-f", "-")
	p.sees(object("Memcached", "web") + ".ready-True")
	s.stop(os.Interrupt)
	p.sees("[data-test=connection]", "Connection lost")
	p.sees("[data-test=messages] [role=alert]", "The page shows the last known state")
	p.sees(object("Memcached", "web"))

	again := start(t, "-f", memcached)
	if again.url != s.url || again.kubeconfig != s.kubeconfig {
		t.Errorf("the second session is at %s with %s, the first was at %s with %s", again.url, again.kubeconfig, s.url, s.kubeconfig)
	}
	p.sees("[data-test=connection]", "Connected")
	p.seesNo(object("Memcached", "web"))
}

// TestStory follows a change in the folded timeline: what it led to is one line, which is red if
// the API server rejected something for good.
func TestStory(t *testing.T) {
	dir := copyOf(t, "examples/memcached")
	s := start(t, "-f", dir)
	p := newBrowser(t).open(s.url)
	s.kubectlIn(resource("web", "{size: 1}"), "create", "-f", "-")
	p.sees(object("Memcached", "web") + ".ready-True")
	p.sees("[data-test=timeline-row].type-event.state-done", "ADD Memcached web", "by kubectl", "events", "writes")
	if rows := p.texts("[data-test=timeline-row].type-delivery"); len(rows) > 0 {
		t.Errorf("triggers are not folded: %s", rows)
	}
	file := filepath.Join(dir, "operator.yaml")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(data), "kubernetes.io/instance:", "kubernetes.io/of:")), 0o644); err != nil {
		t.Fatal(err)
	}
	p.sees("[data-test=timeline-row].state-failed", "field is immutable")
	p.click("[data-test=timeline-failures]")
	p.click("[data-test=timeline-row].state-failed .twist")
	p.sees("[data-test=timeline-row].state-failed.child", "child-deployment", "422")
}

// TestRejected changes a definition so that the API server rejects it, and starts over.
func TestRejected(t *testing.T) {
	dir := copyOf(t, "examples/memcached")
	s := start(t, "-f", dir)
	p := newBrowser(t).open(s.url)
	s.kubectlIn(resource("web", "{size: 1}"), "create", "-f", "-")
	p.sees(object("Memcached", "web") + ".ready-True")
	file := filepath.Join(dir, "operator.yaml")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(data), "- name: v1alpha1", "- name: v1beta1", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	p.sees("[data-test=definition]", "Definition rejected")
	p.sees("[data-test=messages] [role=alert]", "missing from spec.versions", "The previous definition still runs")
	value[bool](p, "(window.confirm = () => true) && true")
	p.click("[data-test=reset]")
	p.sees("[data-test=definition]", "Applied")
	p.seesNo(object("Memcached", "web"))
	if out := s.kubectl("get", "crd", "memcacheds.cache.example.com", "-o", "jsonpath={.spec.versions[*].name}"); out != "v1beta1" {
		t.Errorf("the versions are %s", out)
	}
}

// observeGraph notes the nodes of the event flow that light up.
func (p *tab) observeGraph() {
	p.t.Helper()
	p.sees("#graph [data-node]")
	value[bool](p, `(() => {
  window.lit = new Set();
  const note = ({target}) => { if (target.classList.contains('lit') && target.dataset.node) window.lit.add(target.dataset.node); };
  new MutationObserver((changes) => changes.forEach(note)).observe(document.getElementById('graph'), {subtree: true, attributes: true, attributeFilter: ['class']});
  return true;
})()`)
}

// resource returns a Memcached.
func resource(name, spec string) string {
	return fmt.Sprintf("apiVersion: cache.example.com/v1alpha1\nkind: Memcached\nmetadata:\n  name: %s\nspec: %s\n", name, spec)
}

// apply creates objects in the page.
func (p *tab) apply(yaml string) {
	p.t.Helper()
	p.click("[data-test=new-object]")
	p.sees("[data-test=doc-new][aria-selected=true]")
	p.paste(yaml)
	p.click("[data-test=apply]")
}

// turn uses a switch and waits until the page shows its new position.
func (p *tab) turn(name string, on bool) {
	p.t.Helper()
	p.click("[data-test=switch-" + name + "]")
	p.sees(fmt.Sprintf("[data-test=switch-%s][aria-checked=%v]", name, on))
}

func object(kind, name string) string {
	return fmt.Sprintf("[data-test=tree-row][data-kind=%s][data-name=%s]", kind, name)
}

// TestFaults turns on one fault after the other, and interferes with children by hand.
func TestFaults(t *testing.T) {
	s := start(t, "-f", memcached)
	p := newBrowser(t).open(s.url)
	p.sees("[data-test=connection]", "Connected")
	p.click("[data-test=timeline-all]")
	idle := func() { p.t.Helper(); p.sees("[data-test=pending]", "Idle") }
	fault := func(name string, test func(t *testing.T)) {
		p.run(name, func(t *testing.T) {
			idle()
			p.click("[data-test=timeline-clear]")
			test(t)
		})
	}

	fault("events wait while the Sensor is down", func(t *testing.T) {
		p.turn("sensorDown", true)
		p.sees("#graph .off-label", "down")
		p.apply(resource("down", "{size: 1}"))
		p.sees("[data-test=pending]", "waiting")
		p.sees("[data-test=timeline-row].type-event", "ADD Memcached down")
		if rows := p.texts(object("Deployment", "down")); len(rows) > 0 {
			t.Errorf("the operator works while its Sensor is down: %s", rows)
		}
		p.turn("sensorDown", false)
		p.sees(object("Deployment", "down") + ".ready-True")
		p.sees(object("Memcached", "down") + ".ready-True")
	})

	fault("a resync repairs what a lost event caused", func(t *testing.T) {
		p.turn("loseEvents", true)
		p.sees("#graph .off-label", "loses events")
		p.apply(resource("lost", "{size: 1}"))
		p.sees("[data-test=timeline-row].state-lost", "ADD Memcached lost")
		p.turn("loseEvents", false)
		idle()
		if rows := p.texts(object("Deployment", "lost")); len(rows) > 0 {
			t.Errorf("the operator received a lost event: %s", rows)
		}
		p.click("[data-test=resync]")
		p.sees(object("Memcached", "lost") + ".ready-True")
		p.sees(object("Deployment", "lost") + ".ready-True")
	})

	for broken, status := range map[string]string{"refuse": "503", "conflict": "409"} {
		fault("a resync repairs writes that failed with "+status, func(*testing.T) {
			p.turn(broken, true)
			p.sees("#graph .off-label", status)
			p.apply(resource(broken, "{size: 1}"))
			p.sees("[data-test=timeline-row].type-delivery", "child-deployment", status)
			p.turn(broken, false)
			p.click("[data-test=resync]")
			p.sees(object("Memcached", broken) + ".ready-True")
			p.sees(object("Deployment", broken) + ".ready-True")
		})
	}

	fault("a deleted child comes back", func(*testing.T) {
		row := object("Deployment", "down")
		uid := value[string](p, "all(%s)[0].dataset.uid", row)
		p.click(row)
		p.click("[data-test=delete-object]")
		p.until("another Deployment", "all(%s).some((e) => e.dataset.uid !== %s)", row+".ready-True", uid)
		p.sees(object("Memcached", "down") + ".ready-True")
	})

	fault("a child that somebody edits is restored", func(t *testing.T) {
		p.click(object("Deployment", "down"))
		p.click("[data-test=edit-object]")
		p.sees("[data-test=doc-object][aria-selected=true]", "Deployment down")
		p.replace("  replicas: 1\n  revisionHistoryLimit", "  replicas: 4\n  revisionHistoryLimit")
		p.click("[data-test=apply]")
		p.sees("[data-test=timeline-row]", "UPDATE Deployment down", "spec.replicas")
		eventually(t, "replicas", "1", func() string {
			return s.kubectl("get", "deployment", "down", "-o", "jsonpath={.spec.replicas}")
		})
		p.until("the restored text", "("+editorView+").state.doc.toString().includes('\\n  replicas: 1\\n')")
	})

	fault("an event that is delivered again changes nothing", func(t *testing.T) {
		p.apply(resource("again", "{size: 1}"))
		p.sees(object("Memcached", "again") + ".ready-True")
		idle()
		newest := value[string](p, "all(%s, %s).map((e) => e.dataset.record).sort((a, b) => b - a)[0]", "[data-test=timeline-row].type-event", "Memcached again")
		p.click("[data-test=timeline-row][data-record='" + newest + "']")
		p.sees("[data-test=details] h2", "UPDATE Memcached default/again")
		versions := func() string {
			return s.kubectl("get", "memcached/again", "deployment/again", "-o", "jsonpath={.items[*].metadata.resourceVersion}")
		}
		before := versions()
		p.click("[data-test=timeline-clear]")
		p.click("[data-test=redeliver]")
		p.sees("[data-test=timeline-row].type-event", "UPDATE Memcached again")
		idle()
		if after := versions(); after != before {
			t.Errorf("resource versions %s, want %s", after, before)
		}
	})
}
