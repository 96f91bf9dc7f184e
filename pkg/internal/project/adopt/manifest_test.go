package adopt_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/argoperator/argoperator/pkg/argoperator"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
	"github.com/argoperator/argoperator/pkg/internal/project/adopt"
	"github.com/argoperator/argoperator/pkg/internal/project/scaffold"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
	"github.com/argoperator/argoperator/pkg/internal/testing/edited"
	"github.com/argoperator/argoperator/pkg/internal/testing/goldenfile"
	"github.com/argoperator/argoperator/pkg/internal/testing/need"
	"github.com/argoperator/argoperator/pkg/internal/testing/scaffoldtest"
)

func fromManifests(t *testing.T, o scaffold.Options, files ...string) (scaffold.Project, diag.List) {
	t.Helper()
	o.Name, o.Group, o.Kind = "app", "example.com", "App"
	var inputs []source.Input
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, source.Input{Name: filepath.Base(file), Data: data})
	}
	p, findings := adopt.FromManifests(o, inputs)
	if findings.HasErrors() {
		t.Fatalf("%v: %+v", files, findings)
	}
	return p, findings
}

// broken has changes of a project after which its test must fail.
var broken = map[string]map[string]string{
	"shop.yaml": {
		"image: ${ .spec.web.image }":                   "image: a:1",
		"number: '${ .spec.webService.port }'":          "number: 81",
		"secretName: '${ .spec.tlsSecret }'":            "secretName: a",
		"maxReplicas: ${ .spec.autoscale.maxReplicas }": "maxReplicas: 7",
		"  children:\n":                                 "  children:\n  - {name: other, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: '${ .metadata.name }-other'}}}\n",
	},
	"live.json":    {"cpu: ${ .spec.cpuRequest }": "cpu: 7m"},
	"nightly.yaml": {"schedule: ${ .spec.schedule }": "schedule: 1 1 * * *"},
}

// TestManifestGolden compares complete projects and the notes about their manifests
// with testdata. UPDATE=1 rewrites them.
func TestManifestGolden(t *testing.T) {
	for _, file := range []string{"shop.yaml", "live.json", "nightly.yaml"} {
		t.Run(file, func(t *testing.T) {
			p, findings := fromManifests(t, scaffold.Options{}, filepath.Join("testdata", "manifests", file))
			result, err := scaffold.Files(p)
			if err != nil {
				t.Fatal(err)
			}
			operator := scaffoldtest.Generated(t, result)
			scaffoldtest.Play(t, operator, result.Files)
			scaffoldtest.Fails(t, result, broken[file])
			got := &txtar.Archive{}
			for _, f := range findings {
				got.Comment = fmt.Appendf(got.Comment, "%s:%d:%d: %s; %s\n", f.File, f.Line, f.Column, f.Message, f.Hint)
			}
			for _, note := range result.Notes {
				got.Comment = fmt.Appendln(got.Comment, note)
			}
			for _, f := range result.Files {
				scaffoldtest.Sound(t, f)
				if regexp.MustCompile(`^(operator|children/|samples/|tests/)`).MatchString(f.Path) {
					got.Files = append(got.Files, txtar.File{Name: f.Path, Data: f.Data})
				}
			}
			project := filepath.Join("testdata", "manifest-"+strings.TrimSuffix(file, filepath.Ext(file))+".txtar")
			goldenfile.Compare(t, project, string(txtar.Format(got)))
		})
	}
}

// realManifests are files of the modules that argoperator requires.
var realManifests = []string{
	"github.com/argoproj/argo-workflows/v3 manifests/quick-start-postgres.yaml",
	"github.com/argoproj/argo-workflows/v3 manifests/quick-start/base/minio/minio-*.yaml",
	"github.com/argoproj/argo-workflows/v3 manifests/quick-start/base/prometheus/prometheus-*.yaml",
	"github.com/argoproj/argo-workflows/v3 manifests/components/mysql/mysql-*.yaml",
	"github.com/argoproj/argo-events manifests/install.yaml",
	"github.com/argoproj/argo-events manifests/namespace-install.yaml",
	"k8s.io/pod-security-admission webhook/manifests/[0-9]*.yaml",
}

// local runs the programs of workers.
func local(t *testing.T) simulate.Runner {
	t.Helper()
	need.Program(t, "python3")
	return simulate.Local{Env: []string{"PATH=" + os.Getenv("PATH")}}
}

// TestManifestsRoundTrip requires that a custom resource with an empty spec creates
// the objects from which the project was generated.
func TestManifestsRoundTrip(t *testing.T) {
	files, err := filepath.Glob("testdata/manifests/*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { checkRoundTrip(t, file) })
	}
	if testing.Short() {
		return
	}
	for _, line := range realManifests {
		module, pattern, _ := strings.Cut(line, " ")
		dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
		if err != nil || strings.TrimSpace(string(dir)) == "" {
			t.Logf("%s is not in the module cache", module)
			continue
		}
		files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no file; %v", line, err)
		}
		t.Run(line, func(t *testing.T) { checkRoundTrip(t, files...) })
	}
}

func checkRoundTrip(t *testing.T, files ...string) {
	t.Helper()
	p, findings := fromManifests(t, scaffold.Options{}, files...)
	result, err := scaffold.Files(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range result.Findings {
		t.Logf("lint: %s:%d: %s", f.File, f.Line, f.Message)
		if f.Severity == diag.Error {
			t.Error("the manifest is refused")
		}
	}
	if result.Findings.HasErrors() {
		return
	}
	dir := scaffold.Directory(result.Files)
	operator, err := argoperator.Generate([]argoperator.Source{{Name: "operator.yaml", Data: dir["operator.yaml"].Data, Dir: dir}}, argoperator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var before []map[string]any
	var names []string
	namespace := "default"
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		objects, _ := source.Objects(source.Input{Data: data}, func([]byte) bool { return true })
		for _, object := range objects {
			o := object.Fields
			metadata := o["metadata"].(map[string]any)
			names = append(names, metadata["name"].(string))
			for _, subject := range append(adopt.List(o, "subjects"), o["metadata"]) {
				if ns, ok := subject.(map[string]any)["namespace"].(string); ok {
					namespace = ns
				}
			}
			before = append(before, o)
		}
	}
	resource := map[string]any{"apiVersion": "example.com/v1alpha1", "kind": "App", "metadata": map[string]any{"name": p.API.Sample, "namespace": namespace}}
	out, err := simulate.Render(t.Context(), simulate.Inputs{Objects: operator.Objects(), Kinds: operator.Kinds(), Runner: local(t)}, []simulate.Action{{Event: simulate.Added, Object: resource}})
	if err != nil {
		t.Fatal(err)
	}
	if failures := out.Trace.Failures(); len(failures) > 0 {
		t.Fatal(failures)
	}
	after := map[string]any{}
	for _, o := range out.Objects {
		if o["kind"] != "App" {
			o := renamed(normalized(t, o, namespace), p.API.Sample, names).(map[string]any)
			after[o["kind"].(string)+" "+o["metadata"].(map[string]any)["name"].(string)] = o
		}
	}
	want := map[string]any{}
	for _, o := range before {
		name := fmt.Sprint(o["kind"], " ", o["metadata"].(map[string]any)["name"])
		out := slices.ContainsFunc(findings, func(f diag.Finding) bool { return strings.HasPrefix(f.Message, name+" is left out") })
		if out {
			continue
		}
		want[name] = normalized(t, o, namespace)
	}
	if len(want) == 0 {
		t.Error("the project has no objects")
	}
	if diff := cmp.Diff(want, after); diff != "" {
		t.Errorf("(-manifests +children):\n%s", diff)
	}
}

// renamed removes the custom resource's name if the names have no common prefix.
func renamed(value any, sample string, names []string) any {
	switch v := value.(type) {
	case map[string]any:
		for key := range v {
			v[key] = renamed(v[key], sample, names)
		}
	case []any:
		for i := range v {
			v[i] = renamed(v[i], sample, names)
		}
	case string:
		for _, name := range names {
			v = strings.ReplaceAll(v, sample+"-"+name, name)
		}
		return v
	}
	return value
}

// omitEmptyLists removes empty lists, as the API server does.
func omitEmptyLists(fields map[string]any) {
	for key, value := range fields {
		switch v := value.(type) {
		case map[string]any:
			omitEmptyLists(v)
		case []any:
			if len(v) == 0 {
				delete(fields, key)
			}
			for _, item := range v {
				if below, ok := item.(map[string]any); ok {
					omitEmptyLists(below)
				}
			}
		}
	}
}

// normalized returns an object without fields that a server or another custom
// resource changes.
func normalized(t *testing.T, o map[string]any, namespace string) map[string]any {
	o = scaffoldtest.Plain(t, o).(map[string]any)
	metadata := o["metadata"].(map[string]any)
	for _, key := range strings.Fields("namespace uid resourceVersion generation creationTimestamp managedFields ownerReferences") {
		delete(metadata, key)
	}
	delete(o, "status")
	clean(o, namespace)
	spec, _ := o["spec"].(map[string]any)
	if o["kind"] == "Service" && spec["clusterIP"] != "None" {
		delete(spec, "clusterIP")
		delete(spec, "clusterIPs")
	}
	if metadata["name"] == "shop-web" && o["kind"] == "Deployment" {
		delete(spec, "replicas") // the autoscaler sets it
	}
	omitEmptyLists(o)
	return o
}

// clean removes nulls, the operator's own labels and annotations, the label that
// identifies custom resources, and the difference between numbers and quantities.
func clean(value any, namespace string) {
	switch v := value.(type) {
	case map[string]any:
		for key := range v {
			clean(v[key], namespace)
			inner := v[key]
			number, isNumber := inner.(float64)
			text, isText := inner.(string)
			if isNumber {
				text = strconv.FormatFloat(number, 'f', -1, 64)
			}
			empty, isMap := inner.(map[string]any)
			switch {
			case key == "kind" && inner == "ServiceAccount" && v["name"] != nil && v["namespace"] == nil:
				v["namespace"] = namespace // the API server would require it
			case inner == nil, strings.HasPrefix(key, "argoperator.dev/"), key == "app.kubernetes.io/managed-by", key == "app.kubernetes.io/instance", key == "nodePort",
				strings.HasPrefix(key, "kubectl.kubernetes.io/"), strings.HasPrefix(key, "deployment.kubernetes.io/"):
				delete(v, key)
			case (isNumber || isText && text != "") && slices.Contains([]string{"cpu", "memory", "storage", "pods"}, key):
				quantity := resource.MustParse(text)
				v[key] = quantity.String()
			case isMap && len(empty) == 0 && slices.Contains([]string{"labels", "annotations", "matchLabels", "metadata"}, key):
				delete(v, key)
			}
		}
	case []any:
		for _, inner := range v {
			clean(inner, namespace)
		}
	}
}

// projectOf returns the project of objects in short form, and the notes about them.
func projectOf(o scaffold.Options, objects ...string) (scaffold.Project, []string) {
	o.Name, o.Group, o.Kind = "app", "example.com", "App"
	p, findings := adopt.FromManifests(o, []source.Input{{Name: "f.yaml", Data: []byte(strings.Join(objects, "\n---\n"))}})
	var notes []string
	for _, f := range findings {
		notes = append(notes, f.Message)
	}
	return p, notes
}

func named(kind, name, more string) string {
	version := map[string]string{"Deployment": "apps/v1", "Role": "rbac.authorization.k8s.io/v1"}[kind]
	if version == "" {
		version = "v1"
	}
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: %q}\n%s", version, kind, name, more)
}

func TestManifestNames(t *testing.T) {
	tests := []struct {
		name, reason, sample string
		names, want          []string
	}{
		{"one", "it is the custom resource", "web", []string{"web"}, []string{adopt.OwnName}},
		{"same", "of different kinds they are the same", "web", []string{"web", "web"}, []string{adopt.OwnName, adopt.OwnName}},
		{"begin the same", "what is common is the name", "my-web", []string{"my-web-a", "my-web", "my-web-b-c"}, []string{adopt.OwnName + "-a", adopt.OwnName, adopt.OwnName + "-b-c"}},
		{"within a word", "words are not cut", "my", []string{"my-web", "my-wed"}, []string{adopt.OwnName + "-web", adopt.OwnName + "-wed"}},
		{"nothing", "each has it in front", "sample", []string{"front", "back"}, []string{adopt.OwnName + "-front", adopt.OwnName + "-back"}},
		{"dots", "they are no ends of words", "a.b", []string{"a.b-c", "a.b"}, []string{adopt.OwnName + "-c", adopt.OwnName}},
		{"no name for an object", "the sample cannot have it", "sample", []string{"a:b"}, []string{adopt.OwnName}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var objects []string
			for i, name := range tt.names {
				objects = append(objects, named([]string{"Role", "ConfigMap", "ServiceAccount"}[i], name, ""))
			}
			p, notes := projectOf(scaffold.Options{}, objects...)
			var got []string
			for _, f := range p.Files {
				_, rest, _ := strings.Cut(string(f.Data), "\n  name: ")
				name, _, _ := strings.Cut(rest, "\n")
				got = append(got, name)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s%q", tt.reason, diff, notes)
			}
			if p.API.Sample != tt.sample {
				t.Errorf("the sample has the name %q", p.API.Sample)
			}
		})
	}
}

func TestManifestHosts(t *testing.T) {
	const db = "${ .metadata.name }-db"
	tests := []struct{ name, reason, key, text, want string }{
		{"port", "a host has one", "x", "app-db:5432", db + ":5432"},
		{"URL", "it names a host", "x", "http://app-db/x", "http://" + db + "/x"},
		{"user", "so does this", "x", "pg://me:pw@app-db", "pg://me:pw@" + db},
		{"own namespace", "it is the custom resource's", "x", "app-db.live.svc.cluster.local", db + ".${ .metadata.namespace }.svc.cluster.local"},
		{"short", "the same", "x", "a app-db.live b", "a " + db + ".${ .metadata.namespace } b"},
		{"several", "all of them", "x", "app-db:1234,app-db:1235", db + ":1234," + db + ":1235"},
		{"key", "what it is called says so", "DB_HOST", "app-db", db},
		{"ConfigMap", "the variable says what it is", "CONFIG_MAP", "app-db", ""},
		{"word", "it may mean anything", "x", "app-db", ""},
		{"among words", "the same", "DB_HOST", "the app-db is here", ""},
		{"longer word", "another name", "x", "my-app-db:5432 app-db-2:5432 app-db_x:5432", ""},
		{"another namespace", "another's Service", "x", "app-db.other.svc:5432", ""},
		{"domain", "the same", "x", "app-db.example.com:5432", ""},
		{"variable", "a shell fills it in", "x", "$app-db:5432", ""},
		{"beside an expression", "one is escaped, one is not", "x", "${X}http://app-db:80/{{ .Values.x }}", "$${X}http://" + db + `:80/${ "{{" } .Values.x }}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			service := "apiVersion: v1\nkind: Service\nmetadata: {name: app-db, namespace: live}\nspec: {ports: [{port: 5432}]}"
			m := newManifest(t, service, named("ConfigMap", "app", fmt.Sprintf("data: {%s: %q}", tt.key, tt.text)))
			got, _ := adopt.Mapping(m.Kept[1].Fields, "data")[tt.key].(adopt.Expr)
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

// TestManifestNamesInFlags covers names in flags and variables.
func TestManifestNamesInFlags(t *testing.T) {
	tests := []struct{ name, by, text, want string }{
		{"variable", "CONFIG_MAP_NAME", "app-config", adopt.OwnName + "-config"},
		{"flag", "--configmap", "app-config", adopt.OwnName + "-config"},
		{"assigned", "", "--watch-config-map=app-config", "--watch-config-map=" + adopt.OwnName + "-config"},
		{"account", "", "--service-account=app", "--service-account=" + adopt.OwnName},
		{"another kind", "--service-account", "app-config", ""},
		{"not said", "--name", "app-config", ""},
		{"no flag", "", "configmap=app-config", ""},
		{"another name", "--configmap", "app-config-2", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newManifest(t, named("ConfigMap", "app-config", ""), named("ServiceAccount", "app", ""))
			got, _ := m.NamedIn(tt.by, tt.text).(adopt.Expr)
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// newManifest returns a manifest with resolved references.
func newManifest(t *testing.T, objects ...string) *adopt.Manifest {
	t.Helper()
	m := &adopt.Manifest{}
	m.Read(source.Input{Name: "f.yaml", Data: []byte(strings.Join(objects, "\n---\n"))})
	m.Name()
	m.Refer()
	return m
}

// TestManifestFindings covers the notes about omitted and unsupported fields.
func TestManifestFindings(t *testing.T) {
	config := named("ConfigMap", "app", "data: {a: b}")
	tests := []struct {
		name, reason string
		objects      []string
		want         []string
		files        int
	}{
		{"nothing", "there is nothing to begin with", nil, []string{"the manifests contain no object that can become a child"}, 0},
		{"no object", "the same", []string{"a: b"}, []string{"the manifests contain no object that can become a child", "a document without apiVersion and kind is left out"}, 0},
		{"a list of nothing", "the same", []string{"apiVersion: v1\nkind: List\nitems: []"}, []string{"the manifests contain no object that can become a child"}, 0},
		{"text", "as of a wrong file", []string{"hello"}, []string{"the document is the string \"hello\", want an object"}, 0},
		{"broken", "with its place", []string{config, "a: ["}, []string{"invalid YAML: did not find expected node content"}, 0},
		{"twice", "one namespace has one", []string{config, config}, []string{"ConfigMap app is left out: another one has the same name"}, 1},
		{"unnamed", "it could not be found again", []string{config, "apiVersion: v1\nkind: Pod\nmetadata: {generateName: x-}"}, []string{"Pod is left out: it has no metadata.name"}, 1},
		{
			"kustomization", "it is an input of another tool",
			[]string{config, "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization"},
			[]string{"Kustomization is left out: it is the input of kustomize, not an object"},
			1,
		},
		{
			"Job", "it could be thought of as a Deployment",
			[]string{"apiVersion: batch/v1\nkind: Job\nmetadata: {name: app}\nspec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: \"a:1\"}]}}}"},
			[]string{"the API server rejects changes to the containers of Job app"},
			1,
		},
		{
			"made by Kubernetes", "every namespace has them",
			[]string{config, named("ServiceAccount", "default", ""), "apiVersion: v1\nkind: Service\nmetadata: {name: kubernetes, labels: {component: apiserver}}\n"},
			[]string{"ServiceAccount default is left out: Kubernetes creates one in every namespace", "Service kubernetes is left out: Kubernetes creates one in every namespace"},
			1,
		},
		{
			"unknown kind", "its plural may be another",
			[]string{"apiVersion: farm.example.org/v1\nkind: Ox\nmetadata: {name: app}"},
			[]string{"the manifests have no CustomResourceDefinition of Ox: its plural, oxen, is a guess"},
			1,
		},
		{
			"known kind", "its CustomResourceDefinition is among the objects",
			[]string{"apiVersion: example.com/v1\nkind: One\nmetadata: {name: app}\nspec: {a: x}", strings.Replace(crdOf("One", ""), "Cluster", "Namespaced", 1)},
			[]string{"CustomResourceDefinition ones.example.com is left out: it is cluster-scoped, and all custom resources share it"},
			2,
		},
		{
			"odd types", "nothing is taken for granted",
			[]string{"apiVersion: apps/v1\nkind: ConfigMap\nmetadata: {name: app, labels: [], annotations: x, finalizers: 3}\nspec: [1, {template: 3}]\ndata: 7"},
			[]string{"the manifests have no CustomResourceDefinition of ConfigMap: its plural, configmaps, is a guess"},
			1,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, notes := projectOf(scaffold.Options{}, tt.objects...)
			if diff := cmp.Diff(tt.want, notes); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
			if len(p.Files) != tt.files {
				t.Errorf("%s: %d files", tt.reason, len(p.Files))
			}
			if tt.files > 0 && tt.name != "odd types" {
				if result, err := scaffold.Files(p); err != nil || result.Findings.HasErrors() {
					t.Errorf("%v %+v\n%s", err, result.Findings, p.Files[0].Data)
				}
			}
		})
	}
}

// TestManifestSecrets covers the names of Secrets, and what the notes say about them.
func TestManifestSecrets(t *testing.T) {
	const (
		ingress = "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: shop%s}\nspec: {tls: [{hosts: [a.example.com], secretName: shop-tls}], " +
			"rules: [{host: a.example.com, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: x, port: {number: 80}}}}]}}]}"
		deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: shop}\nspec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, " +
			"spec: {containers: [{name: a, image: \"a:1\"}], volumes: [{name: v, secret: {secretName: shop-tls}}]}}}"
		tls         = "apiVersion: v1\nkind: Secret\nmetadata: {name: shop-tls}\ntype: kubernetes.io/tls\ndata: {tls.crt: YQ==, tls.key: YQ==}"
		certificate = "apiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: shop}\nspec: {secretName: shop-tls, dnsNames: [a.example.com], issuerRef: {name: a}}"
		external    = "apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {name: shop-tls}\nspec: {secretStoreRef: {name: a}}"
		create      = "create these Secrets in the namespace of each custom resource; "
		own         = "${ .metadata.name }-tls"
	)
	annotated := fmt.Sprintf(ingress, ", annotations: {cert-manager.io/cluster-issuer: a}")
	plain := fmt.Sprintf(ingress, "")
	leftOut := "Secret shop-tls is left out: a project does not contain secrets"
	tests := []struct {
		name    string
		objects []string
		names   string // in the templates
		want    []string
	}{
		{
			"pods and an Ingress",
			[]string{deployment, plain, tls},
			"${ .spec.tlsSecret }",
			[]string{leftOut, create + "pods do not start without them: shop-tls for Deployment shop, Ingress shop (.spec.tlsSecret names it)"},
		},
		{
			"Ingress only",
			[]string{plain, tls},
			"${ .spec.tlsSecret }",
			[]string{leftOut, create + "the operator does not create them: shop-tls for Ingress shop (.spec.tlsSecret names it)"},
		},
		{"unused", []string{named("ConfigMap", "app", ""), tls}, "", []string{leftOut}},
		{"annotation of cert-manager", []string{annotated, deployment, tls}, own, []string{"Secret shop-tls is left out: another controller creates it for a child"}},
		{"Certificate", []string{plain, certificate}, own, []string{"the manifests have no CustomResourceDefinition of Certificate: its plural, certificates, is a guess"}},
		{"ExternalSecret", []string{plain, external}, own, []string{"the manifests have no CustomResourceDefinition of ExternalSecret: its plural, externalsecrets, is a guess"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, notes := projectOf(scaffold.Options{}, tt.objects...)
			if diff := cmp.Diff(tt.want, append(notes, p.Notes...)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			for _, f := range p.Files {
				for _, parts := range regexp.MustCompile("secretName: '?([^',}]*}[^',}]*)").FindAllStringSubmatch(string(f.Data), -1) {
					if parts[1] != tt.names {
						t.Errorf("%s: the Secret is %s, want %s", f.Path, parts[1], tt.names)
					}
				}
			}
		})
	}
}

// FuzzFromManifests requires that no manifest causes a panic. It mutates manifests;
// FuzzObjects in pkg/internal/lang/source covers other text.
func FuzzFromManifests(f *testing.F) {
	var manifests [][]byte
	files, err := filepath.Glob("testdata/manifests/*")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		manifests = append(manifests, data)
	}
	for i := range manifests {
		f.Add(uint8(i), uint64(0), uint64(0), uint64(0))
	}
	f.Fuzz(func(_ *testing.T, which uint8, first, second, third uint64) {
		data := edited.YAML(manifests[int(which)%len(manifests)], first, second, third)
		adopt.FromManifests(scaffold.Options{}, []source.Input{{Name: "f.yaml", Data: data}})
	})
}

// TestManifestsOfTwoCustomResources requires that the objects of two custom resources share no
// name, and that pod selectors only match pods of the same custom resource.
func TestManifestsOfTwoCustomResources(t *testing.T) {
	p, _ := fromManifests(t, scaffold.Options{}, "testdata/manifests/shop.yaml")
	result, err := scaffold.Files(p)
	if err != nil {
		t.Fatal(err)
	}
	operator := scaffoldtest.Generated(t, result)
	var happenings []simulate.Action
	for _, name := range []string{"blue", "green"} {
		happenings = append(happenings, simulate.Action{Event: simulate.Added, Object: map[string]any{
			"apiVersion": "example.com/v1alpha1", "kind": "App", "metadata": map[string]any{"name": name, "namespace": "default"},
		}})
	}
	out, err := simulate.Render(t.Context(), simulate.Inputs{Objects: operator.Objects(), Kinds: operator.Kinds(), Runner: local(t)}, happenings)
	if err != nil {
		t.Fatal(err)
	}
	of := map[string][]map[string]any{}
	for _, o := range out.Objects {
		if name, _, found := strings.Cut(o["metadata"].(map[string]any)["name"].(string), "-"); found || o["kind"] != "App" {
			of[name] = append(of[name], o)
		}
	}
	if len(of["blue"]) != len(p.Children) || len(of["green"]) != len(p.Children) || len(of) != 2 {
		t.Fatalf("objects of %d custom resources, %d blue and %d green", len(of), len(of["blue"]), len(of["green"]))
	}
	checked := 0
	for _, o := range of["blue"] {
		selectors := []map[string]any{}
		if o["kind"] == "Service" {
			selectors = append(selectors, adopt.Mapping(o, "spec", "selector"))
		}
		adopt.ForEachMap(o["spec"], func(key string, m map[string]any) {
			if key == "matchLabels" {
				selectors = append(selectors, m)
			}
		})
		for _, selector := range selectors {
			checked++
			if selects(selector, of["green"]) || !selects(selector, of["blue"]) {
				t.Errorf("%v %v selects by %v", o["kind"], adopt.Mapping(o, "metadata")["name"], selector)
			}
		}
	}
	if checked != 5 { // two Services, two workloads, one spread
		t.Errorf("%d selectors", checked)
	}
}

// selects reports whether a selector matches the pods of any object.
func selects(selector map[string]any, objects []map[string]any) bool {
	return slices.ContainsFunc(objects, func(o map[string]any) bool {
		pods := adopt.PodTemplate(o)
		if pods == nil {
			return false
		}
		labels := adopt.Mapping(pods, "metadata", "labels")
		for key, value := range selector {
			if labels[key] != value {
				return false
			}
		}
		return true
	})
}
