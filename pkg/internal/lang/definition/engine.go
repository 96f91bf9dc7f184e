package definition

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// engine checks what the steps engine does not support, and keys of other engines.
func (c *checker) engine() {
	r, p := c.op.Spec.Reconcile, source.PathOf("spec", "reconcile")
	if *r.Shards != 1 && slices.Contains([]string{"direct", "workflow", "steps"}, r.Engine) {
		c.addKey(p.To("shards"), diag.ConflictingKeys, "shards needs the worker engine", "remove the key, or write engine: worker")
	}
	if r.Engine == "steps" {
		c.stepsEngine()
	}
}

// orDirect returns the hint to remove a key of the direct engine or, where that may run the definition, to select it.
func (c *checker) orDirect(typed string) string {
	spec := c.op.Spec
	if spec.Logic != nil || len(spec.Related) > 0 || len(spec.Patches) > 0 {
		return "remove the key"
	}
	return "remove the key, or write " + typed
}

// notDirect reports whether the definition names another engine than direct.
func (c *checker) notDirect() bool {
	return slices.Contains([]string{"worker", "workflow", "steps"}, c.op.Spec.Reconcile.Engine)
}

func (c *checker) stepsEngine() {
	if n, p := len(c.op.Spec.Children), source.PathOf("spec", "children"); n != 1 {
		c.addKey(p, diag.Unsupported, fmt.Sprintf("the steps engine supports exactly one child, and the definition has %d", n),
			"write reconcile: {engine: workflow}, which supports any number")
	}
	for i := range c.op.Spec.Children {
		if p := source.PathOf("spec", "children", i, "update"); c.op.Spec.Children[i].Update != "InPlace" {
			c.addKey(
				p,
				diag.Unsupported,
				"the steps engine supports update: InPlace only",
				"remove the key, or write reconcile: {engine: workflow}",
			)
		}
		key := "template"
		p := source.PathOf("spec", "children", i)
		if !c.inline(p) {
			key = "file"
		}
		if c.Written(p.To(key)) {
			c.addKey(
				p.To(key),
				diag.Unsupported,
				"the steps engine does not support templates: logic makes its child",
				"remove the key, or write engine: auto",
			)
		}
	}
	if p := source.PathOf("spec", "reconcile", "engine"); c.op.Spec.Logic == nil && c.anyTemplate() &&
		!c.Written(source.PathOf("spec", "logic")) {
		c.add(p, diag.Unsupported, "the steps engine needs logic", "write logic, or engine: auto")
	}
	for _, p := range []source.Path{
		source.PathOf("spec", "related"), source.PathOf("spec", "patches"), source.PathOf("spec", "childMetadata"),
		source.PathOf("spec", "logic", "resyncAfter"), source.PathOf("spec", "logic", "hook"),
		source.PathOf("spec", "api", "existing", "labelSelector"),
		source.PathOf("spec", "api", "existing", "annotationSelector"), source.PathOf("spec", "api", "existing", "decorate"),
	} {
		if c.Written(p) {
			c.addKey(
				p,
				diag.Unsupported,
				fmt.Sprintf("the steps engine does not support %s", p[len(p)-1]),
				"remove the key, or write reconcile: {engine: auto}",
			)
		}
	}
	if p := source.PathOf("spec", "finalizer"); c.op.Spec.Finalizer != nil {
		c.addKey(
			p,
			diag.Unsupported,
			"the steps engine does not support a finalizer",
			"remove the key, or write reconcile: {engine: workflow}",
		)
	}
}

// finalizer checks its name, and the order of deletions.
func (c *checker) finalizer() {
	f, p := c.op.Spec.Finalizer, source.PathOf("spec", "finalizer", "name")
	if at := source.PathOf("spec", "finalizer", "deletionOrder"); f != nil && f.DeletionOrder == "Reverse" && c.op.Spec.Logic != nil {
		c.addKey(at, diag.ConflictingKeys, "the logic decides in which order its children are deleted", "remove the key")
	}
	if f == nil || !c.Written(p) || !c.has(f.Name, p) {
		return
	}
	group, _, qualified := strings.Cut(f.Name, "/")
	const hint = "write DNS.NAME/NAME, such as cache.example.com/memcached-cleanup"
	switch invalid := len(validation.IsQualifiedName(f.Name)) > 0; {
	case invalid || !qualified && c.op.Spec.API.Existing != nil:
		c.add(p, diag.BadName, fmt.Sprintf("%q is not the name of a finalizer", f.Name), hint)
		return
	case !qualified: // as that of an operator which this one replaces
		c.warn(p, diag.BadName, fmt.Sprintf("the finalizer %q has no domain, so others may use the same", f.Name), hint)
		return
	}
	c.foreignFinalizer(group, p)
}

// foreignFinalizer reports a finalizer of another controller: the operator would remove
// it before that controller is done.
func (c *checker) foreignFinalizer(group string, p source.Path) {
	name, own, existing := c.op.Spec.Finalizer.Name, c.group(), c.op.Spec.API.Existing != nil
	use := v1alpha1.DefaultFinalizer(own, c.op.Metadata.Name)
	if name == use || !existing && group == own {
		return
	}
	others := c.groupsOfOthers()
	if existing {
		others = append(others, own)
	}
	for _, other := range append(others, "kubernetes.io", "k8s.io", "argoproj.io") {
		if protected(group, other) {
			c.report(p, diag.Finding{
				Severity: diag.Error, Code: diag.ReservedName,
				Message: fmt.Sprintf("the finalizer %s belongs to a controller of %s: the operator would remove it too early", name, other),
			}.Writing(use))
			return
		}
	}
	if !existing && !protected(group, own) && !protected(own, group) {
		c.warn(p, diag.ReservedName,
			fmt.Sprintf(
				"the finalizer %s is not of the group %s: the operator removes it, also where another controller has set it", name, own,
			),
			"write "+use)
	}
}

// groupsOfOthers returns the groups of the kinds that the definition names.
func (c *checker) groupsOfOthers() []string {
	var out []string
	add := func(apiVersion any) {
		text, _ := apiVersion.(string)
		if group, _, grouped := strings.Cut(text, "/"); grouped && group != c.group() {
			out = append(out, group)
		}
	}
	for _, child := range c.op.Spec.Children {
		add(child.APIVersion)
		add(child.Template["apiVersion"])
	}
	for _, patch := range c.op.Spec.Patches {
		add(patch.Template["apiVersion"])
	}
	for _, related := range c.op.Spec.Related {
		add(related.APIVersion)
	}
	return out
}

// reconcile checks durations and numbers.
func (c *checker) reconcile() {
	r, p := c.op.Spec.Reconcile, source.PathOf("spec", "reconcile")
	if d, ok := c.duration(r.Resync, p.To("resync")); ok {
		c.resync(r.Resync, d, p.To("resync"))
	}
	if d, ok := c.duration(r.Timeout, p.To("timeout")); ok && d < 10*time.Second {
		c.add(
			p.To("timeout"),
			diag.BadValue,
			fmt.Sprintf("timeout is %s, want 10s or more", r.Timeout),
			"a pod needs some seconds to start",
		)
	}
	if n := r.Retries; n != nil && (*n < 0 || *n > 20) {
		c.add(p.To("retries"), diag.BadValue, fmt.Sprintf("retries is %d, want 0 to 20", *n), "")
	}
	if n := r.Concurrency; n != nil && (*n < 1 || *n > maxConcurrency) {
		c.add(p.To("concurrency"), diag.BadValue, fmt.Sprintf("concurrency is %d, want 1 to %d", *n, maxConcurrency), "")
	}
	if n := r.Shards; n != nil && (*n < 1 || *n > maxShards) {
		c.add(p.To("shards"), diag.BadValue, fmt.Sprintf("shards is %d, want 1 to %d", *n, maxShards), "")
	}
}

// maxConcurrency limits the custom resources that a worker reconciles at a time.
const maxConcurrency = 16

// maxShards limits the workers that share the custom resources.
const maxShards = 16

func (c *checker) duration(text string, p source.Path) (time.Duration, bool) {
	if c.Written(p) && !c.has(text, p) {
		return 0, false
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		hint := "write a duration with a unit, such as 90s, 30m or 1h"
		if strings.HasSuffix(text, "d") {
			hint = "write 24h for a day: there is no unit d"
		}
		c.add(p, diag.BadValue, fmt.Sprintf("%s: %q is not a duration", p, text), hint)
	}
	return d, err == nil
}

// resync reports an interval that cron cannot repeat evenly.
func (c *checker) resync(text string, d time.Duration, p source.Path) {
	legal := []int{1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60, 120, 180, 240, 360, 480, 720, 1440}
	best := time.Duration(legal[0]) * time.Minute
	for _, minutes := range legal {
		interval := time.Duration(minutes) * time.Minute
		if (interval - d).Abs() < (best - d).Abs() {
			best = interval
		}
	}
	if best != d {
		c.add(p, diag.BadValue, fmt.Sprintf("a resync every %s cannot be scheduled evenly", text),
			"write "+shortDuration(best)+", the nearest interval of whole minutes that divide an hour or whole hours that divide a day")
	}
}

// shortDuration formats a duration without zero units: 30m, not 30m0s.
func shortDuration(d time.Duration) string {
	if d%time.Hour == 0 {
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dm", d/time.Minute)
}
