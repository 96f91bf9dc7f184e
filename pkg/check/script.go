package check

import (
	"encoding/json"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// runtimeConfig is what the pod's program reads, as far as other objects must agree with it.
type runtimeConfig struct {
	Namespace        string
	Parent           runtimeKind
	Children         []runtimeKind
	WatchNamespaces  []string
	WorkflowTemplate string
	Templates        bool   // the children come from the Sensor
	Later            string // the WorkflowTemplate of runs that the logic asks for
	Token            runtimeToken
}

// runtimeToken is the token that the script replaces.
type runtimeToken struct{ ServiceAccount, Secret, Key string }

type runtimeKind struct {
	APIVersion, Kind, Plural string
	Namespaced               bool
}

func (k runtimeKind) group() string {
	gv, _ := schema.ParseGroupVersion(k.APIVersion)
	return gv.Group
}

// The names by which the script and its configuration are known.
const (
	scriptFile = "reconcile.py"
	configFile = "config.json"
)

// script is one call of the pod-side script.
type script struct {
	command    string
	config     runtimeConfig
	configured bool // the container mounts a configuration
}

// scripts are the calls of the script in the pod's containers.
func (p pod) scripts(o objects) []script {
	var out []script
	for _, c := range p.containers() {
		words := strings.Fields(strings.Join(slices.Concat(c.Command, c.Args), " "))
		i := slices.IndexFunc(words, func(w string) bool { return strings.HasSuffix(w, "/"+scriptFile) })
		if i < 0 {
			continue
		}
		command := ""
		if i+1 < len(words) {
			command = words[i+1]
		}
		config, ok := p.config(o, c)
		out = append(out, script{command: command, config: config, configured: ok})
	}
	return out
}

// config reads the configuration from the ConfigMap that the container mounts.
func (p pod) config(o objects, c corev1.Container) (runtimeConfig, bool) {
	var config runtimeConfig
	for _, v := range p.volumes() {
		mounted := slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == v.Name })
		if v.ConfigMap == nil || !mounted {
			continue
		}
		cm, ok := find[*corev1.ConfigMap](o, p.namespace, v.ConfigMap.Name)
		if ok && cm.Data[configFile] != "" {
			return config, json.Unmarshal([]byte(cm.Data[configFile]), &config) == nil
		}
	}
	return config, false
}
