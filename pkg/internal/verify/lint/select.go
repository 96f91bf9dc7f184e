package lint

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// Skipped counts what lint checks and what not: in directories, objects that
// are not of Argo, and to which no object of Argo refers.
type Skipped struct {
	Checked   int // files that lint checks
	Excluded  int // files that the configuration excludes
	Templates int // files of Helm, or of another program that replaces tags
	Encrypted int // objects that SOPS has encrypted
	Patches   int // files and objects that kustomize merges into others
	Others    int // objects of other kinds
}

// String lists the numbers; "" if there are none.
func (s Skipped) String() string {
	var out []string
	for _, one := range []struct {
		count     int
		name, all string
	}{
		{s.Templates, "template", "templates"},
		{s.Encrypted, "encrypted object", "encrypted objects"},
		{s.Patches, "kustomize patch", "kustomize patches"},
		{s.Excluded, "excluded file", "excluded files"},
		{s.Others, "object of another kind", "objects of other kinds"},
	} {
		if one.count > 0 {
			out = append(out, Counted(one.count, one.name, one.all))
		}
	}
	return strings.Join(out, ", ")
}

// Counted returns a number with its noun.
func Counted(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// selection are the documents of all files that are checked.
type selection struct {
	skipped Skipped
	argo    []source.Input // the documents of each file that may have objects of Argo
	others  []source.Input // further documents
	patched patched
}

// patched are the objects, by kind and name, that kustomize completes: what is in the files is not all
// of them.
type patched map[string]bool

func (p patched) has(kind, name string) bool { return p[kind+" "+name] }

// add adds the objects that the documents of a patch are for.
func (p patched) add(text string) {
	source.Divided([]byte(text), 0, func(document string) int {
		var of metav1.PartialObjectMetadata
		if yaml.Unmarshal([]byte(document), &of) == nil && of.Kind != "" {
			p[of.Kind+" "+of.Name] = true
		}
		return -1
	})
}

// kustomization is what a file of kustomize changes in the objects of others.
type kustomization struct {
	Patches    []kustomizePatch `json:"patches"`
	JSON       []kustomizePatch `json:"patchesJson6902"`
	Merged     []string         `json:"patchesStrategicMerge"`
	ConfigMaps []generated      `json:"configMapGenerator"`
	Secrets    []generated      `json:"secretGenerator"`
}

type kustomizePatch struct {
	Path   string                      `json:"path"`
	Patch  string                      `json:"patch"`
	Target struct{ Kind, Name string } `json:"target"`
}

type generated struct{ Name string }

// files returns the files with its patches.
func (k kustomization) files() []string {
	out := k.Merged
	for _, p := range slices.Concat(k.Patches, k.JSON) {
		if p.Path != "" {
			out = append(out, p.Path)
		}
	}
	return out
}

// merges adds the objects that a kustomization itself completes.
func (p patched) merges(k kustomization) {
	for _, one := range k.Patches {
		p.add(one.Patch)
		p[one.Target.Kind+" "+one.Target.Name] = true
	}
	for kind, list := range map[string][]generated{"ConfigMap": k.ConfigMaps, "Secret": k.Secrets} {
		for _, one := range list {
			p[kind+" "+one.Name] = true
		}
	}
}

// choose divides the documents of files. Those of files that the user named are all checked, if
// they are not encrypted.
func choose(files []source.Input, config *Config) selection {
	s := selection{patched: patched{}}
	charts, patches := map[string]bool{}, map[string]bool{}
	for _, file := range files {
		switch dir, base := path.Split(file.Name); base {
		case "Chart.yaml":
			charts[path.Join(dir, "templates")] = true
		case "kustomization.yaml", "kustomization.yml":
			var k kustomization
			if yaml.Unmarshal(file.Data, &k) != nil {
				continue
			}
			for _, name := range k.files() {
				patches[path.Join(dir, name)] = true
			}
			s.patched.merges(k)
		}
	}
	for _, file := range files {
		switch {
		case config.excludes(file.Name):
			s.skipped.Excluded++
			continue
		case file.Lenient && below(charts, file.Name):
			s.skipped.Templates += whether(isTemplate(string(file.Data)) || mentionsArgo(string(file.Data)))
			continue
		case file.Lenient && patches[path.Clean(file.Name)]:
			s.skipped.Patches++
			s.patched.add(string(file.Data))
			continue
		}
		const ofArgo, others, neither = 0, 1, -1
		template := false
		divided := source.Divided(file.Data, 2, func(text string) int {
			switch {
			case isEncrypted(text):
				s.skipped.Encrypted++
				return neither
			case !file.Lenient:
				return ofArgo
			case isTemplate(text):
				template = true
				return neither
			case strings.Contains(text, "$patch") && strategy().MatchString(text):
				s.skipped.Patches++
				s.patched.add(text)
				return neither
			case mentionsArgo(text):
				return ofArgo
			}
			return others
		})
		s.skipped.Templates += whether(template)
		for part, list := range map[int]*[]source.Input{ofArgo: &s.argo, others: &s.others} {
			if file.Data = divided[part]; file.Data != nil {
				*list = append(*list, file)
			}
		}
	}
	return s
}

func whether(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// below reports whether a file is in one of the directories, or below it.
func below(directories map[string]bool, name string) bool {
	for dir := path.Dir(name); len(directories) > 0; dir = path.Dir(dir) {
		if directories[dir] {
			return true
		}
		if dir == path.Dir(dir) {
			break
		}
	}
	return false
}

var (
	// helmTag matches a tag that only Helm replaces.
	helmTag = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\{\{-?\s*(?:[^}"']*[\s(])?[.$]*\.?(?:Values|Release|Chart|Capabilities|Files)\.` +
			`|\{\{-?\s*(?:include|template|define)\s+"`)
	})
	// blockTag matches a tag where YAML has no text: a line of its own, or a value without quotes.
	blockTag = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)(?:^|:)\s*(?:\{\{-?\s*([^{}]*)\}\}|\{%)`) })
	// argoTag matches the content of a tag that Argo replaces.
	argoTag = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:=|(?:workflow|cronworkflow|inputs|outputs|steps|tasks|item|pod|node|retries|lastRetry)\b)`)
	})
	// encrypted matches the metadata that SOPS adds to a document.
	encrypted = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^(?:sops:\s*$|  ?"sops"\s*:)`) })
	// strategy matches a directive of a strategic merge patch.
	strategy = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^[\s-]*["']?\$patch["']?\s*:`) })
	// argoAPI matches the apiVersion of an object of Argo, and argoKind its kind, also one that is nearly right.
	argoAPI  = lazily(`apiVersion["']?\s*:\s*["']?argoproj\.io/`)
	argoKind = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?mi)^[\s"'-]*kind["']?\s*:\s*["']?(?:` + strings.Join(argoKinds, "|") + `)["']?\s*,?\s*$`)
	})
)

// isTemplate reports whether a document is one of Helm, or of another program that replaces tags:
// YAML alone does not describe the object. Argo's own tags are in texts.
func isTemplate(text string) bool {
	if !strings.Contains(text, "{{") && !strings.Contains(text, "{%") {
		return false
	}
	if helmTag().MatchString(text) {
		return true
	}
	other := slices.ContainsFunc(blockTag().FindAllStringSubmatch(text, -1), func(m []string) bool { return !argoTag().MatchString(m[1]) })
	return other && !source.IsPlain(text)
}

func isEncrypted(text string) bool {
	return strings.Contains(text, "ENC[") && encrypted().MatchString(text)
}

func mentionsArgo(text string) bool {
	return argoAPI().MatchString(text) || argoKind().MatchString(text)
}

// argoKinds are the kinds of Argo that lint checks.
var argoKinds = []string{
	"EventSource", "Sensor", "EventBus", "Workflow", "WorkflowTemplate", "ClusterWorkflowTemplate", "CronWorkflow",
	"WorkflowEventBinding",
}

// references are what the objects of Argo among the files refer to.
type references struct {
	mu         sync.Mutex
	texts      map[string]bool // all their texts
	names      map[string]bool // of these, those that are names of other objects
	namespaces map[string]bool // "" if one has none
	watched    []eventsv1.ResourceEventSource
	roles      map[string]bool // KIND/NAME of the roles of their accounts
}

func newReferences() *references {
	return &references{
		texts: map[string]bool{"default": true, artifactRepositories: true}, names: map[string]bool{},
		namespaces: map[string]bool{}, roles: map[string]bool{},
	}
}

// add records what an object refers to.
func (r *references) add(o source.Object, object manifest.Object) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.addTexts(o.Fields)
	r.namespaces[o.Text("metadata", "namespace")] = true
	if s, ok := object.(*eventsv1.EventSource); ok {
		r.watched = slices.AppendSeq(r.watched, maps.Values(s.Spec.Resource))
	}
}

func (r *references) addTexts(value any) {
	switch value := value.(type) {
	case string:
		r.texts[value] = true
	case []any:
		for _, inner := range value {
			r.addTexts(inner)
		}
	case map[string]any:
		for key, inner := range value {
			if text, is := inner.(string); is && slices.Contains(nameKeys, key) {
				r.names[text] = true
			}
			r.addTexts(inner)
		}
	}
}

// nameKeys are the fields with the name of another object.
var nameKeys = []string{"name", "secretName", "claimName", "configMap"}

// kindLine matches the kind of a document.
var kindLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\s*["']?kind["']?\s*:\s*["']?(\w+)`) })

// candidates returns the objects of a file of which one of Argo may refer to some. Those of other
// kinds are not decoded: the CustomResourceDefinitions of a repository can have megabytes.
func (r *references) candidates(file source.Input, targets Targets, skipped *Skipped) []candidate {
	file.Data = source.Divided(file.Data, 1, func(text string) int {
		may := slices.ContainsFunc(kindLine().FindAllStringSubmatch(text, -1), func(m []string) bool {
			return m[1] != "CustomResourceDefinition" && slices.Contains(otherKinds, m[1]) ||
				m[1] == "CustomResourceDefinition" && slices.ContainsFunc(r.watched, func(e eventsv1.ResourceEventSource) bool {
					return strings.Contains(text, e.Resource+"."+e.Group)
				})
		})
		switch {
		case may:
			return 0
		case strings.Contains(text, "kind"):
			skipped.Others++
		}
		return -1
	})[0]
	objects, found := source.Objects(file, source.NotEmpty)
	var out []candidate
	for n, o := range objects {
		out = append(out, newCandidate(&file, n, o, targets))
	}
	for _, f := range found {
		for i := len(out) - 1; i >= 0; i-- {
			if out[i].line <= f.Line {
				out[i].found = append(out[i].found, f)
				break
			}
		}
	}
	return out
}

// otherKinds are the kinds to which objects of Argo refer.
var otherKinds = []string{
	"ClusterRole", "ClusterRoleBinding", "ConfigMap", "CustomResourceDefinition", "Namespace", "PersistentVolumeClaim", "PodMonitor",
	"Role", "RoleBinding", "Secret", "ServiceAccount", "List",
}

// to returns the objects to which those of Argo refer, and counts the others.
func (r *references) to(all []candidate, skipped *Skipped) []candidate {
	for _, c := range all {
		switch o := c.object.(type) { // they tell which roles count
		case *rbacv1.RoleBinding:
			r.binds(o.Subjects, o.RoleRef)
		case *rbacv1.ClusterRoleBinding:
			r.binds(o.Subjects, o.RoleRef)
		}
	}
	var out []candidate
	for _, c := range all {
		if c.object != nil && r.refersTo(c.object) {
			out = append(out, c)
		} else {
			skipped.Others++
		}
	}
	return out
}

func (r *references) refersTo(o manifest.Object) bool {
	switch o := o.(type) {
	case *apiextensionsv1.CustomResourceDefinition:
		return slices.ContainsFunc(r.watched, func(e eventsv1.ResourceEventSource) bool {
			return e.Group == o.Spec.Group && e.Resource == o.Spec.Names.Plural
		})
	case *rbacv1.RoleBinding:
		return r.binds(o.Subjects, o.RoleRef)
	case *rbacv1.ClusterRoleBinding:
		return r.binds(o.Subjects, o.RoleRef)
	case *rbacv1.Role:
		return r.roles["Role/"+o.Name] || concernsArgo(o.Rules)
	case *rbacv1.ClusterRole:
		return r.roles["ClusterRole/"+o.Name] || concernsArgo(o.Rules)
	case *corev1.Namespace:
		return r.namespaces[o.Name]
	case *corev1.ServiceAccount, *corev1.ConfigMap, *corev1.Secret, *corev1.PersistentVolumeClaim:
		return (r.texts[o.GetName()] || r.nearly(o.GetName())) && r.beside(o.GetNamespace())
	case *monitoringv1.PodMonitor:
		return true // its rule looks at those for Argo's pods
	}
	return false
}

// nearly reports whether an object of Argo may refer to a name, and misspell it.
func (r *references) nearly(name string) bool {
	for other := range r.names {
		if diag.Nearest(other, []string{name}, strings.ToLower) != "" {
			return true
		}
	}
	return false
}

// beside reports whether an object of Argo may be in a namespace.
func (r *references) beside(namespace string) bool {
	return namespace == "" || r.namespaces[""] || r.namespaces[namespace]
}

// binds records the role of a binding for an account of Argo's objects.
func (r *references) binds(subjects []rbacv1.Subject, role rbacv1.RoleRef) bool {
	used := slices.ContainsFunc(subjects, func(s rbacv1.Subject) bool {
		return s.Kind == rbacv1.ServiceAccountKind && r.texts[s.Name] && r.beside(s.Namespace)
	})
	if used {
		r.roles[role.Kind+"/"+role.Name] = true
	}
	return used
}

// concernsArgo reports whether a rule is about kinds of Argo.
func concernsArgo(rules []rbacv1.PolicyRule) bool {
	return slices.ContainsFunc(rules, func(rule rbacv1.PolicyRule) bool { return slices.Contains(rule.APIGroups, argo.Group) })
}
