package dev

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// failingTest expects another number of replicas than the operator asks for.
const failingTest = `apiVersion: argoperator.dev/v1alpha1
kind: OperatorTest
metadata: {name: broken}
spec:
  resource: {file: ../samples/memcached.yaml}
  steps:
  - name: created
    create: {}
  - name: one more than there should be
    resync: {}
    expect:
      children:
      - {kind: Deployment, spec: {replicas: 4}}
`

// TestTests runs the tests of a definition in the page.
func TestTests(t *testing.T) {
	dir := copyOf(t, "examples/memcached")
	if err := os.WriteFile(filepath.Join(dir, "tests/broken.yaml"), []byte(failingTest), 0o644); err != nil {
		t.Fatal(err)
	}
	s := start(t, "-f", dir, "--test", "broken")
	p := newBrowser(t).open(s.url)

	p.run("opens the test of --test at its failing step", func(*testing.T) {
		p.sees("[data-test=test][data-name=broken][data-state=failed]")
		p.sees("[data-test=step][open]", "one more than there should be")
		p.sees("[data-test=finding]", "spec.replicas", "broken.yaml:13")
		p.sees("[data-name=broken] li[data-state=passed]", "created")
	})

	p.run("runs all tests", func(*testing.T) {
		p.click("[data-test=run-all]")
		p.sees("[data-test=tests-summary]", "3 passed, 1 failed")
		p.sees("[data-test=test][data-name=drift][data-state=passed]")
		p.click("[data-test=test][data-name=drift] > details > summary")
		p.click("[data-name=drift] [data-test=step] > summary", "somebody deletes the Deployment")
		p.click("[data-name=drift] [data-test=timeline-row].type-delivery", "PATCH Deployment", "201")
		p.sees("[data-name=drift] .record [data-test=call]", "PATCH", "201")
	})

	p.run("records what somebody does as a test", func(t *testing.T) {
		p.apply(resource("web", "{size: 2}"))
		p.sees(object("Deployment", "web")+".ready-True", "2 of 2 ready")
		p.sees(object("Memcached", "web") + ".ready-True")
		uid := value[string](p, "all(%s)[0].dataset.uid", object("Deployment", "web"))
		p.sees("[data-test=pending]", "Idle")
		p.click(object("Deployment", "web"))
		p.click("[data-test=delete-object]")
		p.until("another Deployment", "all(%s).some((e) => e.dataset.uid !== %s)", object("Deployment", "web")+".ready-True", uid)
		s.kubectl("patch", "memcached", "web", "--type=merge", "-p", `{"spec":{"size":1}}`)
		p.sees(object("Deployment", "web")+".ready-True", "1 of 1 ready")
		p.sees(object("Memcached", "web") + ".ready-True")
		p.sees("[data-test=pending]", "Idle")

		p.click("[data-test=record]")
		for _, step := range []string{"create the Memcached", "delete Deployment web by hand", "change spec.size", "Deployment web is ready (3)"} {
			p.sees(".recorded li", step)
		}
		p.click("[data-test=recording-name]")
		p.press(strings.Split("recorded", "")...)
		p.click("[data-test=recording-save]")
		p.sees("[data-test=toast]", "recorded.yaml. The test passed.")
		p.sees("[data-test=test][data-name=recorded]")
		data, err := os.ReadFile(filepath.Join(dir, "tests/recorded.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"size: 2", "childDelete:", "edit:", "size: 1", "expect:"} {
			if !strings.Contains(string(data), want) {
				t.Errorf("the test has no %q:\n%s", want, data)
			}
		}
		out, err := exec.Command("../../../bin/argoperator", "test", "-f", dir, "--run", "recorded").CombinedOutput()
		if err != nil {
			t.Errorf("argoperator test: %v\n%s\n%s", err, out, data)
		}
	})

	p.run("starts a recording over", func(*testing.T) {
		p.click("[data-test=recording-clear]")
		p.sees("[data-test=recording]", "Create a custom resource first")
		p.sees("[data-test=record]", "Save as test")
	})
}
