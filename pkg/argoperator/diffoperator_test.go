package argoperator

import (
	"slices"
	"strings"
	"testing"
)

// TestChangedOperator covers what diff says of the custom resources and the objects of an earlier operator.
func TestChangedOperator(t *testing.T) {
	const earlier = `apiVersion: argoperator.dev/v1alpha1
kind: Operator
metadata: {name: app}
spec:
  install: {networkPolicies: true}
  reconcile: {engine: worker}
  variables: {label: one}
  parameters: {class: string | default=fast}
  api:
    group: example.com
    kind: App
    plural: apps
    versions: [{name: v1, schema: {spec: {size: integer | default=1}}}]
  finalizer: {name: example.com/cleanup}
  children:
  - name: login
    template: {apiVersion: v1, kind: Secret, metadata: {name: "${ .metadata.name }"}}
    generate: {password: {length: 20}, token: {length: 20}}
  - name: db
    template:
      apiVersion: apps/v1
      kind: StatefulSet
      metadata: {name: "${ .metadata.name }"}
      spec:
        selector: {matchLabels: {app: "${ $variables.label }-${ .metadata.name }"}}
        template:
          metadata: {labels: {app: "${ $variables.label }-${ .metadata.name }"}}
          spec: {containers: [{name: db, image: "docker.io/library/postgres:17", volumeMounts: [{name: data, mountPath: /data}]}]}
        volumeClaimTemplates:
        - metadata: {name: data}
          spec: {storageClassName: "${ $parameters.class }", accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
  patches:
  - name: mark
    template: {apiVersion: v1, kind: ConfigMap, metadata: {name: shared, labels: {marked: "yes"}}}
`
	for name, tt := range map[string]struct {
		edit []string
		want string // a part of each finding
	}{
		"nothing":       {nil, ""},
		"a comment":     {[]string{"spec:\n  install", "spec: # ours\n  install"}, ""},
		"a variable":    {[]string{"label: one", "label: two"}, "spec.selector of a StatefulSet is immutable"},
		"a parameter":   {[]string{"default=fast", "default=slow"}, "spec.volumeClaimTemplates of a StatefulSet is immutable"},
		"a random key":  {[]string{"password: {", "secret: {"}, "the value of password is deleted"},
		"the finalizer": {[]string{"example.com/cleanup", "example.com/other"}, "nothing removes the finalizer example.com/cleanup"},
		"none":          {[]string{"  finalizer: {name: example.com/cleanup}\n", "  finalizer: {}\n"}, "nothing removes the finalizer example.com/cleanup"},
		"the group":     {[]string{"group: example.com", "group: example.org", "example.com/cleanup", "example.org/cleanup"}, "the group is another one than example.com"},
		"the kind":      {[]string{"kind: App", "kind: Application"}, "the kind was renamed from App"},
		"the plural":    {[]string{"plural: apps", "plural: applications"}, "the plural is another one than apps"},
		"the name":      {[]string{"{name: app}", "{name: application}"}, "the operator was app"},
		"a patch": {
			[]string{"  patches:\n  - name: mark\n    template: {apiVersion: v1, kind: ConfigMap, metadata: {name: shared, labels: {marked: \"yes\"}}}\n", ""},
			"patch mark was removed from the definition",
		},
	} {
		t.Run(name, func(t *testing.T) {
			now := strings.NewReplacer(tt.edit...).Replace(earlier)
			if now == earlier && tt.edit != nil {
				t.Fatal("the edit changes nothing")
			}
			before, findings, err := Earlier([]Source{{Name: "operator.yaml", Data: []byte(earlier)}}, Options{})
			if err != nil || findings.HasErrors() {
				t.Fatal(err, findings)
			}
			result, err := Generate([]Source{{Name: "operator.yaml", Data: []byte(now)}}, Options{})
			if err != nil || result.Findings.HasErrors() {
				t.Fatal(err, result.Findings)
			}
			comparison, err := result.Compare(before)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range comparison.Findings {
				got = append(got, f.Message)
			}
			wrong := func(message string) bool { return tt.want == "" || !strings.Contains(message, tt.want) }
			if slices.ContainsFunc(got, wrong) || len(got) == 0 != (tt.want == "") {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
