package definition

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// ownAlertLabels are the labels that every alert has.
var ownAlertLabels = []string{
	"alertname", "severity", "operator", "operator_namespace", "namespace", "eventsource_name", "event_name", "sensor_name", "trigger_name",
}

// monitoring checks the Prometheus settings, and that an object is emitted for them.
func (c *checker) monitoring() {
	m, p := c.op.Spec.Install.Monitoring, source.PathOf("spec", "install", "monitoring")
	if m == nil {
		return
	}
	c.objectLabels(m.Labels, p.To("labels"))
	c.alertLabels(m.AlertLabels, p.To("alertLabels"))
	if at := p.To("interval"); c.Written(at) {
		c.interval(m.Interval, at)
	}
	c.unused(p.To("dashboard"), m.PrometheusRule || !m.Dashboard, "prometheusRule: true")
	c.unused(p.To("labels"), m.PodMonitor || m.PrometheusRule, "podMonitor: true or prometheusRule: true")
	c.unused(p.To("interval"), m.PodMonitor, "podMonitor: true")
	c.unused(p.To("alertLabels"), m.PrometheusRule, "prometheusRule: true")
}

// unused reports a setting for an object that is not emitted.
func (c *checker) unused(p source.Path, emitted bool, want string) {
	if c.Written(p) && !emitted {
		c.addKey(
			p,
			diag.ConflictingKeys,
			fmt.Sprintf("%s has no effect without %s", p, want),
			"write "+want+" beside it, or remove the key",
		)
	}
}

func (c *checker) interval(text string, p source.Path) {
	d, ok := c.duration(text, p)
	if ok && (d < time.Second || d%time.Second != 0) {
		c.add(
			p,
			diag.BadValue,
			fmt.Sprintf("%s: %q is not a number of whole seconds", p, text),
			"write whole seconds, such as 15s, 30s or 1m",
		)
	}
}

// alertLabels checks label names by the rules of Prometheus, and rejects values that
// Prometheus would expand as templates.
func (c *checker) alertLabels(labels map[string]string, p source.Path) {
	for _, key := range source.SortedKeys(labels) {
		at := p.To(key)
		switch {
		case slices.Contains(ownAlertLabels, key):
			c.addKey(at, diag.ReservedName, fmt.Sprintf("every alert already has the label %s", key), "remove the key")
		case !identifier.MatchString(key) || strings.HasPrefix(key, "__"):
			c.addKey(
				at,
				diag.BadName,
				fmt.Sprintf("%q is not the name of a label in Prometheus", key),
				"use letters, digits and '_', with no digit and no '__' at the start",
			)
		case strings.Contains(labels[key], "{{"):
			c.add(at, diag.ReservedName, fmt.Sprintf("%q contains {{, which Prometheus expands", labels[key]), "write plain text")
		case labels[key] == "":
			c.add(at, diag.BadValue, fmt.Sprintf("%s is empty", at), "remove the key: Prometheus drops a label without a value")
		}
	}
}
