package argo

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// runtimeConfig is the part of the pod's configuration that must agree with other
// objects.
type runtimeConfig struct {
	Namespace        string
	Parent           runtimeKind
	Children         []runtimeKind
	WatchNamespaces  []string
	WorkflowTemplate string
	SensorTemplates  bool   // the Sensor renders the children
	Timer            string // the WorkflowTemplate for requeues that the logic requests
	Token            RuntimeToken

	// Of a worker.
	Operator, EventSource string
	Sensors               []string
	ResyncSeconds         int
	Logic                 struct{ Seconds int64 }
}

// RuntimeToken is the token that the script rotates.
type RuntimeToken struct{ ServiceAccount, Secret, Key string }

type runtimeKind struct {
	APIVersion, Kind, Plural string
	Namespaced               bool
}

func (k runtimeKind) Group() string {
	gv, _ := schema.ParseGroupVersion(k.APIVersion)
	return gv.Group
}

// Names of the script and its configuration. A worker runs a script of its own, which has one
// command.
const (
	ScriptFile    = "reconcile.py"
	workerFile    = "serve.py"
	WorkerCommand = "serve"
	ConfigFile    = "config.json"
	configEnding  = ".json" // of a configuration, also of an operator of a group
)

// Script is one invocation of the script in a pod, for one operator.
type Script struct {
	Command    string
	Config     runtimeConfig
	Configured bool // the container mounts a configuration
}

// Scripts returns the invocations of the script in the pod's containers.
func (p Pod) Scripts(o Objects) []Script {
	var out []Script
	for _, c := range p.Containers() {
		words := strings.Fields(strings.Join(slices.Concat(c.Command, c.Args), " "))
		i := slices.IndexFunc(words, func(w string) bool {
			return strings.HasSuffix(w, "/"+ScriptFile) || strings.HasSuffix(w, "/"+workerFile)
		})
		if i < 0 {
			continue
		}
		command := ""
		if strings.HasSuffix(words[i], "/"+workerFile) {
			command = WorkerCommand
		} else if i+1 < len(words) {
			command = words[i+1]
		}
		configs := p.configs(o, c)
		for _, config := range configs {
			out = append(out, Script{Command: command, Config: config, Configured: true})
		}
		if len(configs) == 0 {
			out = append(out, Script{Command: command})
		}
	}
	return out
}

// configs reads the configurations from the ConfigMaps that the container mounts.
func (p Pod) configs(o Objects, c corev1.Container) []runtimeConfig {
	var out []runtimeConfig
	for _, files := range p.files(o, c) {
		for _, name := range slices.Sorted(maps.Keys(files)) {
			var config runtimeConfig
			if strings.HasSuffix(name, configEnding) && json.Unmarshal([]byte(files[name]), &config) == nil {
				out = append(out, config)
			}
		}
	}
	return out
}

// files returns the contents of the ConfigMaps that a container of the pod mounts.
func (p Pod) files(o Objects, c corev1.Container) []map[string]string {
	var out []map[string]string
	for _, v := range p.Volumes() {
		mounted := slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == v.Name })
		if v.ConfigMap == nil || !mounted {
			continue
		}
		if cm, ok := Find[*corev1.ConfigMap](o, p.Namespace, v.ConfigMap.Name); ok {
			out = append(out, cm.Data)
		}
	}
	return out
}
