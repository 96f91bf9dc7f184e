package selfcheck

import (
	"slices"
	"testing"

	argoevents "github.com/argoproj/argo-events/pkg/metrics"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

func TestObjectsAcceptsMonitoring(t *testing.T) {
	f := newFixture()
	addMonitoring(f)
	problems, err := Objects(f.objects())
	if err != nil || len(problems) > 0 {
		t.Errorf("%v%s", err, formatProblems(problems))
	}
}

// TestPodMetricsMatchArgoEvents compares the list with the metrics that Argo Events
// registers.
func TestPodMetricsMatchArgoEvents(t *testing.T) {
	m := argoevents.NewMetrics("operators")
	m.InitEventMetrics("memcached", "memcached")
	m.InitSensorMetrics("memcached", "reconcile")
	m.EventProcessingDuration("memcached", "memcached", 1)
	m.ActionDuration("memcached", "reconcile", 1)
	registry := prometheus.NewRegistry()
	registry.MustRegister(m)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, family := range families {
		names := []string{family.GetName()}
		if family.GetType() == dto.MetricType_SUMMARY {
			names = []string{names[0] + "_sum", names[0] + "_count"}
		}
		for _, name := range names {
			for _, l := range family.GetMetric()[0].GetLabel() {
				got[name] = append(got[name], l.GetName())
			}
		}
	}
	want := map[string][]string{}
	for name, labels := range podMetrics() {
		want[name] = slices.Sorted(slices.Values(append(slices.Clone(labels), "namespace")))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-listed +registered\n%s", diff)
	}
}
