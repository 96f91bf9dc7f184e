package argoperator_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"github.com/argoproj/argo-events/pkg/reconciler/eventbus"
	"github.com/argoproj/argo-events/pkg/reconciler/sensor"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/internal/kube/admission"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
	"github.com/argoperator/argoperator/pkg/internal/testing/differential"
	"github.com/argoperator/argoperator/pkg/internal/testing/selfcheck"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// TestEmittedObjects runs the self-check on the operator of every definition in this
// repository. FuzzGenerate runs it with every combination of options.
func TestEmittedObjects(t *testing.T) {
	checked := 0
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !isDefinition(file) {
			return err
		}
		operators := resultOf(t, file).Operators
		passesChecks(t, file, operators)
		checked += len(operators)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if checked < 75 {
		t.Errorf("only %d operators found", checked)
	}
}

// isDefinition reports whether a file contains definitions, valid or not.
func isDefinition(file string) bool {
	if filepath.Ext(file) != ".yaml" {
		return false
	}
	data, err := os.ReadFile(file)
	return err == nil && strings.Contains(string(data), "apiVersion: argoperator.dev/v1alpha1") && strings.Contains(string(data), "kind: Operator")
}

// passesChecks runs every check on generated operators. Any problem is a defect of
// argoperator, because Generate has already reported the user's errors as findings.
func passesChecks(t *testing.T, source string, operators []argoperator.Operator) {
	t.Helper()
	for _, o := range operators {
		problems, err := selfcheck.Objects(o.Objects)
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		for _, p := range problems {
			t.Errorf("%s: operator %s: %s %s: %s [%s]", source, o.Name, p.Object, p.Path, p.Message, p.Code)
		}
		acceptedByArgo(t, source, o.Objects)
		fitsKubectlApply(t, source, o.Objects)
	}
}

// fitsKubectlApply requires that kubectl apply can store each ConfigMap of a worker in an
// annotation, as it does without --server-side.
func fitsKubectlApply(t *testing.T, source string, objects []manifest.Object) {
	t.Helper()
	if !slices.ContainsFunc(objects, func(o manifest.Object) bool { _, is := o.(*appsv1.Deployment); return is }) {
		return
	}
	for _, o := range objects {
		cm, ok := o.(*corev1.ConfigMap)
		if !ok {
			continue
		}
		data, err := json.Marshal(cm)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) > admission.MaxAnnotations {
			t.Errorf("%s: ConfigMap %s has %d bytes, more than kubectl apply can store (%d)", source, cm.Name, len(data), admission.MaxAnnotations)
		}
	}
}

// acceptedByArgo requires that Argo Events accepts the Sensors and EventBuses. The
// checks run a restatement of its rules.
func acceptedByArgo(t *testing.T, source string, objects []manifest.Object) {
	t.Helper()
	bus := &eventsv1.EventBus{Spec: eventsv1.EventBusSpec{JetStream: &eventsv1.JetStreamBus{Version: "latest"}}}
	for _, o := range objects {
		if emitted, ok := o.(*eventsv1.EventBus); ok {
			bus = emitted.DeepCopy()
		}
	}
	if err := eventbus.ValidateEventBus(bus); err != nil {
		t.Errorf("%s: %v", source, err)
	}
	for _, o := range objects {
		if s, ok := o.(*eventsv1.Sensor); ok {
			if err := sensor.ValidateSensor(s.DeepCopy(), bus); err != nil {
				t.Errorf("%s: %v", source, err)
			}
		}
	}
}

// TestDrawnOperators runs the self-check on the operators of drawn definitions: in turn, with the engine
// that fits best and with Workflows. DRAWN is the number of definitions.
func TestDrawnOperators(t *testing.T) {
	definitions, err := strconv.ParseUint(cmp.Or(os.Getenv("DRAWN"), "100"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	checked := map[string]int{}
	for seed := range definitions {
		drawn, err := differential.Draw(seed, nil)
		if err != nil {
			t.Fatal(err)
		}
		engine := []plan.Engine{"", plan.Workflow}[seed%2]
		result, err := argoperator.Generate([]argoperator.Source{drawn.Source(engine)}, argoperator.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if result.Findings.HasErrors() {
			continue
		}
		passesChecks(t, fmt.Sprintf("definition %d, engine %q", seed, engine), result.Operators)
		for _, o := range result.Operators {
			checked[o.Engine()]++
		}
	}
	if len(checked) < 3 {
		t.Errorf("only %v were checked", checked)
	}
	t.Log(checked)
}
