package manifest

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
	"github.com/argoperator/argoperator/templates"
)

// configMaps hold the programs of the user and of argoperator, and the dashboard.
func configMaps(p *plan.Plan) []Object { return append(programs(p), dashboards(p)...) }

func programs(p *plan.Plan) []Object {
	reconciles := p.Reconcile.Execution.RunsPods || p.RotatesToken()
	if !reconciles && !p.Reconcile.Diagnoses {
		return nil
	}
	scripts, ofWorker := map[string]string{}, map[string]string{}
	for name, text := range runtimeScripts() {
		switch {
		case slices.Contains(workerScripts, name):
			ofWorker[name] = text
		case name == regexpScript && !slices.ContainsFunc(p.Own(), (*plan.Plan).Searches):
		case name == clientScript, name == diagnosisScript && p.Reconcile.Diagnoses,
			name != diagnosisScript && reconciles && !slices.Contains(scriptsOfOthers(p), name):
			scripts[name] = text
		}
	}
	var objects []Object
	for _, o := range p.Own() {
		if !hasLogic(o) {
			continue
		}
		logic := map[string]string{}
		for _, f := range append(append([]plan.File{}, o.Logic.Files...), o.Logic.Parameters...) {
			logic[f.Key] = f.Content
		}
		objects = append(objects, configMap(p, o.Names.ConfigMap+o.Part(), logic))
	}
	objects = append(objects, operatorsConfigMaps(p)...)
	if reconciles && !p.Reconcile.Execution.Stays {
		scripts[runtimeConfig] = config(p.Runtime)
	}
	objects = append(objects, configMap(p, p.Names.RuntimeConfigMap, scripts))
	if p.Reconcile.Execution.Stays {
		objects = append(objects, configMap(p, p.Names.Worker, ofWorker))
	}
	return objects
}

// operatorsConfigMaps have the configurations of the operators of a worker: with the programs,
// they would exceed what kubectl apply can store in an annotation. Shards have one in common.
func operatorsConfigMaps(p *plan.Plan) []Object {
	var out []Object
	for i, worker := range p.Workers() {
		if i > 0 && len(p.Members) == 0 {
			break
		}
		configs := map[string]string{}
		for _, o := range p.RunBy(worker) {
			configs[configFile(o)] = config(o.Runtime)
		}
		out = append(out, configMap(p, operatorsConfigMap(p, worker), configs))
	}
	return out
}

// operatorsConfigMap is the name of that of a worker.
func operatorsConfigMap(p *plan.Plan, worker string) string {
	if len(p.Members) == 0 {
		return p.Operator.Name + "-config"
	}
	return p.Operator.Name + "-operators" + strings.TrimPrefix(worker, p.Names.Worker)
}

// operatorsDir is where a pod has them.
const operatorsDir = "/operator/operators"

// configFile returns the name of the file with an operator's configuration.
func configFile(p *plan.Plan) string {
	if p.Shared.Group != "" {
		return p.Operator.Name + ".json"
	}
	return runtimeConfig
}

const (
	runtimeScript   = "reconcile.py"
	clientScript    = "api.py" // the only module that diagnose.py imports; reconcile.py imports all of them
	diagnosisScript = "diagnose.py"
	workerScript    = "serve.py"
	regexpScript    = "regexp.py" // for expressions with a regular expression
	runtimeConfig   = "config.json"
)

// workerScripts are the modules that only a worker imports. They have a ConfigMap of their own: with the
// others, they would exceed what kubectl apply can store in an annotation.
var workerScripts = []string{
	workerScript, "show.py", "worker.py", "keys.py", "lease.py", "metrics.py", "calls.py", "referrers.py",
}

// scriptsOfOthers returns modules that only Workflows of other operators run.
func scriptsOfOthers(p *plan.Plan) []string {
	switch {
	case p.Reconcile.Shows:
		return []string{"steps.py"}
	case p.Reconcile.Execution.Stays:
		return []string{runtimeScript, "steps.py"}
	}
	return nil
}

// runtimeScripts returns the texts of argoperator's own programs by the names of their files.
var runtimeScripts = sync.OnceValue(func() map[string]string {
	scripts := map[string]string{}
	err := fs.WalkDir(templates.Runtime, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := templates.Runtime.ReadFile(path)
		scripts[entry.Name()] = string(text)
		return err
	})
	if err != nil {
		panic(fmt.Sprintf("manifest: embedded files cannot be read: %v", err)) // unreachable
	}
	return scripts
})

// RunsOnly reports whether a container runs argoperator's own program and nothing of a
// definition: the files of the program are exactly those that argoperator contains.
func RunsOnly(c corev1.Container, programs map[string]string) bool {
	scripts := runtimeScripts()
	for name, text := range programs {
		if own, known := scripts[name]; name != runtimeConfig && (!known || own != text) {
			return false
		}
	}
	return len(c.Command) == 3 && c.Command[0] == "python3" && c.Command[1] == "-B" && slices.Contains([]string{
		RuntimeDir + "/" + runtimeScript, WorkerDir + "/" + workerScript, RuntimeDir + "/" + diagnosisScript,
	}, c.Command[2])
}

func configMap(p *plan.Plan, name string, data map[string]string) Object {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: meta(p, name),
		Data:       data,
	}
}

func config(r plan.Runtime) string {
	data, err := json.Marshal(r)
	if err != nil {
		panic(fmt.Sprintf("manifest: plain data does not encode: %v", err)) // unreachable
	}
	return formatted(data) + "\n"
}

// formatted indents compact JSON: each field and each object of a list gets a line.
// Other lists stay on one line, because an expression tree has hundreds of them.
func formatted(data []byte) string {
	var out strings.Builder
	newline := "\n"
	for i := 0; i < len(data); i++ {
		c := data[i]
		switch c {
		case '{', '[':
			if data[i+1] == c+2 || c == '[' && data[i+1] != '{' { // empty, or a list without objects
				end := i + length(data[i:])
				out.Write(data[i:end])
				i = end - 1
				continue
			}
			newline += "  "
			out.WriteString(string(c) + newline)
		case '}', ']':
			newline = newline[:len(newline)-2]
			out.WriteString(newline + string(c))
		case ',':
			out.WriteString("," + newline)
		case ':':
			out.WriteString(": ")
		case '"':
			end := i + length(data[i:])
			out.Write(data[i:end])
			i = end - 1
		default:
			out.WriteByte(c)
		}
	}
	return out.String()
}

// length returns the length of the string, list or object at the start of compact JSON.
func length(data []byte) int {
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
		if depth == 0 && !quoted {
			return i + 1
		}
	}
	return len(data) // unreachable in valid JSON
}
