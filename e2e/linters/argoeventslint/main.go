// Command argoeventslint is `argo-events lint FILE...` alone: its two validators, called as that
// command calls them, without the event sources and triggers that the rest of the program needs.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"github.com/argoproj/argo-events/pkg/client/clientset/versioned/scheme"
	"github.com/argoproj/argo-events/pkg/reconciler/eventsource"
	"github.com/argoproj/argo-events/pkg/reconciler/sensor"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

func main() {
	failed := false
	for _, name := range os.Args[1:] {
		data, err := os.ReadFile(name)
		if err != nil {
			fmt.Fprintln(os.Stderr, "argoeventslint:", err)
			os.Exit(1)
		}
		for _, document := range strings.Split(string(data), "\n---\n") {
			if err := lint(document); err != nil {
				fmt.Printf("%s: %v\n", name, err)
				failed = true
			}
		}
	}
	if failed {
		os.Exit(1)
	}
}

// lint validates an EventSource or a Sensor. The command leaves out other kinds, and what is not YAML.
func lint(document string) error {
	var object unstructured.Unstructured
	err := yaml.NewYAMLOrJSONDecoder(strings.NewReader(document), 4096).Decode(&object)
	if kind := object.GetKind(); err != nil || kind != "EventSource" && kind != "Sensor" {
		return nil
	}
	decoded, _, err := scheme.Codecs.UniversalDeserializer().Decode([]byte(document), nil, nil)
	if err != nil {
		return err
	}
	switch o := decoded.(type) {
	case *v1alpha1.EventSource:
		return eventsource.ValidateEventSource(o)
	case *v1alpha1.Sensor:
		bus := &v1alpha1.EventBus{Spec: v1alpha1.EventBusSpec{JetStream: &v1alpha1.JetStreamBus{}}}
		return sensor.ValidateSensor(o, bus)
	}
	return nil
}
