package definition

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// install checks where the operator is installed and what it may access.
func (c *checker) install() {
	in, p := c.op.Spec.Install, source.PathOf("spec", "install")
	if c.label(in.Namespace, p.To("namespace")); strings.HasPrefix(in.Namespace, "kube-") {
		c.report(p.To("namespace"), diag.Finding{
			Severity: diag.Warning, Code: diag.BadName,
			Message: fmt.Sprintf("the namespace %s belongs to Kubernetes", in.Namespace),
		}.Writing("a namespace where Argo Events and Argo Workflows run, such as argo-events"))
	}
	c.labels(in.WatchNamespaces, p.To("watchNamespaces"))
	if len(in.WatchNamespaces) > 0 && c.scope() == "Cluster" {
		c.addKey(p.To("watchNamespaces"), diag.ConflictingKeys, "watchNamespaces needs a namespaced API",
			"remove the key, or write scope: Namespaced under spec.api")
	}
	c.allowedNamespaces(in.AllowedNamespaces, p.To("allowedNamespaces"))
	if n := in.Replicas; n != nil && *n != 1 && *n != 2 {
		c.add(
			p.To("replicas"),
			diag.BadValue,
			fmt.Sprintf("replicas is %d, want 1 or 2", *n),
			"write 2 at most: only one of them is active at a time",
		)
	}
	for i, given := range in.Permissions {
		for key, list := range map[string][]string{"apiGroups": given.APIGroups, "resources": given.Resources, "verbs": given.Verbs} {
			if at := p.To("permissions", i, key); c.Written(at) && len(list) == 0 {
				c.add(at, diag.BadValue, fmt.Sprintf("%s is empty, so the rule allows nothing", at), "write at least one value")
			}
		}
	}
	c.tokenRotation(in.TokenRotation, p.To("tokenRotation"))
	c.installGroup(in.Group, p.To("group"))
	if at := p.To("dedicatedWorker"); in.DedicatedWorker && in.Group == "" {
		c.addKey(at, diag.ConflictingKeys, "dedicatedWorker needs install.group: an operator without a group has its own worker",
			"remove the key, or add group")
	}
	if at := p.To("runtimeImage"); c.Written(at) {
		c.image(in.RuntimeImage, at)
	}
	if at := p.To("argoServerURL"); c.Written(at) && c.has(in.ArgoServerURL, at) {
		u, err := url.Parse(in.ArgoServerURL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			c.add(
				at,
				diag.BadValue,
				fmt.Sprintf("%q is not an http(s) URL", in.ArgoServerURL),
				"write a URL, such as https://argo.example.com",
			)
		}
	}
}

// installGroup checks the name of a group. What the operators of a group share has one name.
func (c *checker) installGroup(name string, p source.Path) {
	if !c.Written(p) || !c.label(name, p) {
		return
	}
	if len(name) > maxEventName {
		c.add(p, diag.NameTooLong, fmt.Sprintf("%s has %d characters, more than %d", p, len(name), maxEventName), "")
	}
	for _, n := range derivedNames(&c.op.Spec.Install) {
		if at := source.PathOf("spec", "install", "names").To(n.key); c.Written(at) {
			c.addKey(
				at,
				diag.ConflictingKeys,
				"this object is shared by the operators of install.group, which names it",
				"remove the key, or install.group",
			)
		}
	}
	r := c.op.Spec.Reconcile
	switch {
	case slices.Contains([]string{"direct", "workflow", "steps"}, r.Engine):
		c.addKey(p, diag.ConflictingKeys, "install.group needs the worker engine", "remove the key, or write reconcile: {engine: worker}")
	case c.op.Spec.Logic != nil && c.op.Spec.Logic.Hook != nil:
		c.addKey(p, diag.ConflictingKeys,
			"install.group and logic.hook cannot be combined: the programs of a group share the ports of a pod", "remove one of them")
	case r.Shards != nil && *r.Shards > 1:
		c.addKey(p, diag.ConflictingKeys, "install.group and reconcile.shards cannot be combined", "remove one of them")
	}
}

// The limits of the token rotation interval.
const minRotation, maxRotation = time.Hour, 720 * time.Hour

func (c *checker) tokenRotation(text string, p source.Path) {
	if !c.Written(p) {
		return
	}
	every, ok := c.duration(text, p)
	if ok && (every%time.Hour != 0 || every < minRotation || every > maxRotation) {
		c.add(p, diag.BadValue, fmt.Sprintf("tokenRotation is %s, want whole hours from 1h to 720h", text), "write whole hours, such as 8h")
	}
	if c.op.Spec.Install.Group != "" {
		c.addKey(p, diag.ConflictingKeys,
			"tokenRotation needs the direct engine, and install.group the worker engine", "remove one of them")
	} else if c.notDirect() {
		c.addKey(p, diag.ConflictingKeys, "tokenRotation needs the direct engine", c.orDirect("reconcile: {engine: direct}"))
	}
}

// namespacePattern matches a namespace name in which * stands for any characters.
var namespacePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9*]([-a-z0-9*]{0,61}[a-z0-9*])?$`) })

func (c *checker) allowedNamespaces(patterns []string, p source.Path) {
	for i, pattern := range patterns {
		if !namespacePattern().MatchString(pattern) {
			c.add(
				p.To(i),
				diag.BadName,
				fmt.Sprintf("%q is not a namespace or a pattern", pattern),
				"write a name in which * stands for any characters, such as tenant-*",
			)
		}
	}
	c.unique(patterns, func(i int) source.Path { return p.To(i) })
}

// eventBus checks the event bus, and that settings are given only for a managed one.
func (c *checker) eventBus() {
	bus, p := c.op.Spec.Install.EventBus, source.PathOf("spec", "install", "eventBus")
	c.label(bus.Name, p.To("name"))
	if bus.Mode == "existing" {
		for _, key := range []string{"replicas", "storageClass", "storage"} {
			if c.Written(p.To(key)) {
				c.addKey(
					p.To(key),
					diag.ConflictingKeys,
					fmt.Sprintf("%s needs a managed EventBus", key),
					"write mode: managed, or remove the key",
				)
			}
		}
		return
	}
	if n := bus.Replicas; n != nil && *n != 1 && *n < 3 {
		c.add(
			p.To("replicas"),
			diag.BadValue,
			fmt.Sprintf("replicas of the EventBus is %d, want 1, or 3 and more", *n),
			"write 1 or 3: two servers have no majority without each other",
		)
	}
	if bus.StorageClass != "" {
		c.subdomain(bus.StorageClass, p.To("storageClass"))
	}
	if bus.Storage != "" {
		c.quantity(bus.Storage, p.To("storage"))
	}
}
