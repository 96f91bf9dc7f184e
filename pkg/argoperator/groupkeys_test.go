package argoperator_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
)

// settings is a part of a definition.
type settings = map[string]any

// twoValues has two values for each key below install, reconcile and targets whose type
// does not give two, with other keys that they need. Both are nil for a key that decides
// which group an operator is in, and for one of other engines.
var twoValues = map[string][2]any{
	"install.group":                            {},
	"install.dedicatedWorker":                  {},
	"install.namespace":                        {},
	"install.eventBus.mode":                    {"existing", "managed"},
	"install.eventBus.replicas":                {managed("replicas", 3), managed("replicas", 5)},
	"install.eventBus.storageClass":            {managed("storageClass", "a"), managed("storageClass", "b")},
	"install.eventBus.storage":                 {managed("storage", "1Gi"), managed("storage", "2Gi")},
	"install.watchNamespaces":                  {[]string{"a"}, []string{"b"}},
	"install.allowedNamespaces":                {[]string{"a"}, []string{"b"}},
	"install.permissions":                      {permission("pods"), permission("secrets")},
	"install.replicas":                         {1, 2},
	"install.runtimeResources.limits":          {settings{"memory": "128Mi"}, settings{"memory": "256Mi"}},
	"install.runtimeResources.requests":        {settings{"cpu": "10m"}, settings{"cpu": "20m"}},
	"install.argoServerURL":                    {"https://a.example.com", "https://b.example.com"},
	"install.imagesLock":                       {"a.lock", "b.lock"},
	"install.tokenRotation":                    {},
	"install.podTemplate.metadata.labels":      {settings{"labels": settings{"a": "b"}}, settings{"labels": settings{"a": "c"}}},
	"install.podTemplate.metadata.annotations": {settings{"annotations": settings{"a": "b"}}, settings{"annotations": settings{"a": "c"}}},
	"install.podTemplate.nodeSelector":         {settings{"nodeSelector": settings{"a": "b"}}, settings{"nodeSelector": settings{"a": "c"}}},
	"install.podTemplate.tolerations":          {settings{"tolerations": []any{settings{"key": "a", "operator": "Exists"}}}, settings{"tolerations": []any{settings{"key": "b", "operator": "Exists"}}}},
	"install.podTemplate.affinity":             {settings{"affinity": settings{}}, settings{"affinity": settings{"nodeAffinity": settings{}}}},
	"install.podTemplate.imagePullSecrets":     {settings{"imagePullSecrets": []any{settings{"name": "a"}}}, settings{"imagePullSecrets": []any{settings{"name": "b"}}}},
	"install.monitoring.labels":                {monitored("labels", settings{"a": "b"}), monitored("labels", settings{"a": "c"})},
	"install.monitoring.interval":              {monitored("interval", "30s"), monitored("interval", "60s")},
	"install.monitoring.dashboard":             {monitored("dashboard", false), monitored("dashboard", true)},
	"install.monitoring.alertLabels":           {monitored("alertLabels", settings{"a": "b"}), monitored("alertLabels", settings{"a": "c"})},
	"reconcile.engine":                         {},
	"reconcile.resync":                         {"30m", "1h"},
	"reconcile.resyncPolicy":                   {"Changed", "Always"},
	"reconcile.timeout":                        {"5m", "6m"},
}

func permission(resource string) []v1alpha1.Permission {
	return []v1alpha1.Permission{{APIGroups: []string{""}, Resources: []string{resource}, Verbs: []string{"get"}}}
}

func managed(key string, value any) settings { return settings{"mode": "managed", key: value} }

func monitored(key string, value any) settings {
	return settings{"podMonitor": true, "prometheusRule": true, key: value}
}

// digests differ whatever a change has an effect on.
var digests = regexp.MustCompile(`\b[0-9a-f]{16}\b`)

// TestGroupKeys gives two operators of a group different values of each key that could be
// about what they share. Either a finding names the key, or the manifests depend on both
// values. A key that does not change the manifests of an operator without a group has no
// effect in one either.
func TestGroupKeys(t *testing.T) {
	used := map[string]bool{}
	for section, typ := range map[string]reflect.Type{
		"install":   reflect.TypeFor[v1alpha1.Install](),
		"reconcile": reflect.TypeFor[v1alpha1.Reconcile](),
	} {
		for key, leaf := range keysOf(typ, section) {
			values, ok := twoValues[key]
			used[key] = true
			switch {
			case ok && values[0] == nil:
				continue
			case !ok:
				values = valuesOf(leaf)
			}
			if values[0] == nil {
				t.Errorf("%s: add two values to twoValues", key)
				continue
			}
			t.Run(key, func(t *testing.T) { differ(t, key, values) })
		}
	}
	for key := range twoValues {
		if !used[key] {
			t.Errorf("%s is no key", key)
		}
	}
}

func differ(t *testing.T, key string, values [2]any) {
	t.Helper()
	text := func(group bool, choices ...int) (string, diag.List) {
		var sources []argoperator.Source
		for i, name := range []string{"one", "two"}[:len(choices)] {
			sources = append(sources, memberWith(t, name, group, key, values[choices[i]]))
		}
		result, err := argoperator.Generate(sources, argoperator.Options{})
		if err != nil {
			t.Fatal(err)
		}
		named := slices.ContainsFunc(result.Findings, func(f diag.Finding) bool { return names(sources, f, key) })
		if result.Findings.HasErrors() && (!group || !named) {
			t.Fatalf("no finding names %s: %v", key, result.Findings)
		}
		if named {
			return "", result.Findings
		}
		return digests.ReplaceAllString(textOf(t, result.Objects()), "DIGEST"), nil
	}
	first, _ := text(false, 0)
	second, _ := text(false, 1)
	both, findings := text(true, 0, 1)
	if first == second || findings != nil {
		return
	}
	for _, other := range [][]int{{0, 0}, {1, 1}, {1, 0}} {
		if same, _ := text(true, other...); same == both {
			t.Error("the manifests do not depend on the values of both operators, and no finding names the key")
			return
		}
	}
}

// names reports whether a finding is at a key or contains its name.
func names(sources []argoperator.Source, f diag.Finding, key string) bool {
	last := key[strings.LastIndex(key, ".")+1:]
	for _, s := range sources {
		lines := strings.Split(string(s.Data), "\n")
		if s.Name == f.File && f.Line > 0 && strings.HasPrefix(lines[f.Line-1][f.Column-1:], `"`+last+`"`) {
			return true
		}
	}
	if key == "install.imagesLock" {
		key = "install.runtimeImage" // whose digest is in the lock
	}
	for path := key; strings.Contains(path, "."); path = path[:strings.LastIndex(path, ".")] {
		if strings.Contains(f.Message, path) {
			return true
		}
	}
	return strings.Contains(f.Hint, last)
}

// memberWith returns a small operator with a value of a key.
func memberWith(t *testing.T, name string, group bool, key string, value any) argoperator.Source {
	t.Helper()
	path := strings.Split(key, ".")
	if _, ok := value.(settings); ok && !strings.HasPrefix(key, "install.runtimeResources") {
		path = path[:len(path)-1] // of the section
	}
	for _, k := range slices.Backward(path) {
		value = settings{k: value}
	}
	spec := value.(settings)
	install, _ := spec["install"].(settings)
	install = maps.Clone(install)
	if install == nil {
		install = settings{}
	}
	if group {
		install["group"] = "all"
	}
	reconcile, _ := spec["reconcile"].(settings)
	spec["reconcile"] = maps.Clone(reconcile)
	if reconcile == nil {
		spec["reconcile"] = settings{}
	}
	spec["reconcile"].(settings)["engine"] = "worker"
	more := ""
	delete(spec, "install")
	for section, value := range spec {
		more += "  " + section + ": " + jsonOf(t, value) + "\n"
	}
	source := member(name, jsonOf(t, install), more)
	source.Dir = locks
	return source
}

// locks has two lock files.
var locks = fstest.MapFS{"a.lock": lock("a"), "b.lock": lock("b")}

func lock(digit string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte(`apiVersion: imgpkg.carvel.dev/v1alpha1
kind: ImagesLock
images:
- annotations: {kbld.carvel.dev/id: "python:3.13-slim"}
  image: python:3.13-slim@sha256:` + strings.Repeat(digit, 64) + "\n")}
}

func jsonOf(t *testing.T, value any) string {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// keysOf returns the keys without keys of their own, with their types.
func keysOf(typ reflect.Type, at string) map[string]reflect.Type {
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if typ.Kind() != reflect.Struct {
		return map[string]reflect.Type{at: typ}
	}
	out := map[string]reflect.Type{}
	for i := range typ.NumField() {
		name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		maps.Copy(out, keysOf(typ.Field(i).Type, at+"."+name))
	}
	return out
}

// valuesOf returns two values of a type.
func valuesOf(typ reflect.Type) [2]any {
	switch typ.Kind() {
	case reflect.Bool:
		return [2]any{true, false}
	case reflect.Int32:
		return [2]any{1, 2}
	case reflect.String:
		return [2]any{"one", "two"}
	}
	return [2]any{}
}
