// Command generate writes the schemas of the types of k8s.io/api that a definition can
// use, as controller-gen makes them for CustomResourceDefinitions: make coretypes.
package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"strings"

	"golang.org/x/tools/go/packages"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-tools/pkg/crd"
	crdmarkers "sigs.k8s.io/controller-tools/pkg/crd/markers"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
)

// types are the types, by package. Those that they hold are a part of their schemas.
var types = map[string]string{
	"k8s.io/api/core/v1": `Affinity Capabilities ConfigMapEnvSource ConfigMapKeySelector ConfigMapVolumeSource Container ContainerPort
		EmptyDirVolumeSource EnvFromSource EnvVar EnvVarSource EphemeralVolumeSource ExecAction HTTPGetAction HostAlias KeyToPath Lifecycle
		LocalObjectReference NodeAffinity NodeSelector NodeSelectorRequirement ObjectFieldSelector ObjectReference
		PersistentVolumeClaimSpec PersistentVolumeClaimTemplate PersistentVolumeClaimVolumeSource PodAffinity PodAffinityTerm
		PodAntiAffinity PodDNSConfig PodSecurityContext PodSpec PodTemplateSpec Probe ProjectedVolumeSource ResourceClaim
		ResourceQuotaSpec ResourceRequirements SeccompProfile SecretEnvSource SecretKeySelector SecretReference SecretVolumeSource SecurityContext
		ServicePort ServiceSpec Sysctl TCPSocketAction Taint Toleration TopologySpreadConstraint TypedLocalObjectReference
		TypedObjectReference Volume VolumeDevice VolumeMount VolumeResourceRequirements`,
	"k8s.io/apimachinery/pkg/apis/meta/v1": `Condition LabelSelector LabelSelectorRequirement`,
	"k8s.io/api/apps/v1":                   `DaemonSetUpdateStrategy DeploymentStrategy StatefulSetUpdateStrategy StatefulSetPersistentVolumeClaimRetentionPolicy`,
	"k8s.io/api/autoscaling/v2":            `CrossVersionObjectReference HorizontalPodAutoscalerBehavior HorizontalPodAutoscalerSpec MetricSpec`,
	"k8s.io/api/batch/v1":                  `CronJobSpec JobSpec JobTemplateSpec PodFailurePolicy`,
	"k8s.io/api/networking/v1":             `HTTPIngressPath IngressBackend IngressRule IngressSpec IngressTLS NetworkPolicyEgressRule NetworkPolicyIngressRule NetworkPolicyPeer NetworkPolicyPort NetworkPolicySpec`,
	"k8s.io/api/policy/v1":                 `PodDisruptionBudgetSpec`,
	"k8s.io/api/rbac/v1":                   `PolicyRule RoleRef Subject`,
}

// examples are values of the types that have required fields, or say nothing without
// any. Those of other types are empty.
var examples = map[string]string{
	"core/v1.ConfigMapKeySelector":               `{"name": "settings", "key": "key"}`,
	"core/v1.Container":                          `{"name": "app", "image": "docker.io/library/nginx:1.27"}`,
	"core/v1.ContainerPort":                      `{"containerPort": 8080}`,
	"core/v1.EnvFromSource":                      `{"configMapRef": {"name": "settings"}}`,
	"core/v1.EnvVar":                             `{"name": "NAME", "value": "value"}`,
	"core/v1.EnvVarSource":                       `{"fieldRef": {"fieldPath": "metadata.name"}}`,
	"core/v1.HTTPGetAction":                      `{"path": "/", "port": 8080}`,
	"core/v1.HostAlias":                          `{"ip": "10.0.0.1", "hostnames": ["example"]}`,
	"core/v1.KeyToPath":                          `{"key": "key", "path": "path"}`,
	"core/v1.LocalObjectReference":               `{"name": "other"}`,
	"core/v1.NodeSelector":                       `{"nodeSelectorTerms": [{"matchExpressions": [{"key": "disk", "operator": "Exists"}]}]}`,
	"core/v1.NodeSelectorRequirement":            `{"key": "disk", "operator": "Exists"}`,
	"core/v1.ObjectFieldSelector":                `{"fieldPath": "metadata.name"}`,
	"core/v1.PersistentVolumeClaimSpec":          `{"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}`,
	"core/v1.PersistentVolumeClaimTemplate":      `{"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}`,
	"core/v1.PersistentVolumeClaimVolumeSource":  `{"claimName": "data"}`,
	"core/v1.PodAffinityTerm":                    `{"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "app"}}}`,
	"core/v1.PodSpec":                            `{"containers": [{"name": "app", "image": "docker.io/library/nginx:1.27"}]}`,
	"core/v1.PodTemplateSpec":                    `{"metadata": {"labels": {"app": "app"}}, "spec": {"containers": [{"name": "app", "image": "docker.io/library/nginx:1.27"}]}}`,
	"core/v1.Probe":                              `{"httpGet": {"path": "/", "port": 8080}}`,
	"core/v1.ResourceClaim":                      `{"name": "claim"}`,
	"core/v1.ResourceRequirements":               `{"requests": {"cpu": "10m", "memory": "64Mi"}}`,
	"core/v1.SeccompProfile":                     `{"type": "RuntimeDefault"}`,
	"core/v1.SecretKeySelector":                  `{"name": "credentials", "key": "key"}`,
	"core/v1.SecretReference":                    `{"name": "credentials"}`,
	"core/v1.ServicePort":                        `{"port": 80}`,
	"core/v1.ServiceSpec":                        `{"ports": [{"port": 80}]}`,
	"core/v1.Sysctl":                             `{"name": "kernel.shm_rmid_forced", "value": "1"}`,
	"core/v1.TCPSocketAction":                    `{"port": 8080}`,
	"core/v1.Taint":                              `{"key": "key", "effect": "NoSchedule"}`,
	"core/v1.Toleration":                         `{"key": "key", "operator": "Exists"}`,
	"core/v1.TopologySpreadConstraint":           `{"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": {"matchLabels": {"app": "app"}}}`,
	"core/v1.TypedLocalObjectReference":          `{"kind": "ConfigMap", "name": "other"}`,
	"core/v1.TypedObjectReference":               `{"kind": "ConfigMap", "name": "other"}`,
	"core/v1.Volume":                             `{"name": "scratch", "emptyDir": {}}`,
	"core/v1.VolumeDevice":                       `{"name": "data", "devicePath": "/dev/data"}`,
	"core/v1.VolumeMount":                        `{"name": "scratch", "mountPath": "/scratch"}`,
	"meta/v1.Condition":                          `{"type": "Ready", "status": "True", "reason": "Ready", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}`,
	"meta/v1.LabelSelector":                      `{"matchLabels": {"app": "app"}}`,
	"meta/v1.LabelSelectorRequirement":           `{"key": "app", "operator": "Exists"}`,
	"apps/v1.DeploymentStrategy":                 `{"type": "RollingUpdate"}`,
	"autoscaling/v2.CrossVersionObjectReference": `{"apiVersion": "apps/v1", "kind": "Deployment", "name": "app"}`,
	"autoscaling/v2.HorizontalPodAutoscalerSpec": `{"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "app"}, "maxReplicas": 3}`,
	"autoscaling/v2.MetricSpec":                  `{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}`,
	"batch/v1.CronJobSpec":                       `{"schedule": "0 * * * *", "jobTemplate": {"spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "app", "image": "docker.io/library/nginx:1.27"}]}}}}}`,
	"batch/v1.JobSpec":                           `{"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "app", "image": "docker.io/library/nginx:1.27"}]}}}`,
	"batch/v1.JobTemplateSpec":                   `{"spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "app", "image": "docker.io/library/nginx:1.27"}]}}}}`,
	"batch/v1.PodFailurePolicy":                  `{"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]}`,
	"networking/v1.HTTPIngressPath":              `{"path": "/", "pathType": "Prefix", "backend": {"service": {"name": "app", "port": {"number": 80}}}}`,
	"networking/v1.IngressBackend":               `{"service": {"name": "app", "port": {"number": 80}}}`,
	"networking/v1.IngressRule":                  `{"host": "example.com", "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": {"service": {"name": "app", "port": {"number": 80}}}}]}}`,
	"networking/v1.IngressSpec":                  `{"defaultBackend": {"service": {"name": "app", "port": {"number": 80}}}}`,
	"networking/v1.IngressTLS":                   `{"hosts": ["example.com"], "secretName": "example-tls"}`,
	"networking/v1.NetworkPolicyPeer":            `{"podSelector": {}}`,
	"networking/v1.NetworkPolicySpec":            `{"podSelector": {}}`,
	"rbac/v1.PolicyRule":                         `{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}`,
	"rbac/v1.RoleRef":                            `{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}`,
	"rbac/v1.Subject":                            `{"kind": "ServiceAccount", "name": "app", "namespace": "default"}`,
}

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(file string) error {
	paths := []string{}
	for p := range types {
		paths = append(paths, p)
	}
	loaded, err := loader.LoadRoots(paths...)
	if err != nil {
		return err
	}
	registry := &markers.Registry{}
	if err := crdmarkers.Register(registry); err != nil {
		return err
	}
	embedded := true // labels and annotations of a template's metadata are not dropped
	parser := &crd.Parser{
		Collector:                  &markers.Collector{Registry: registry},
		Checker:                    &loader.TypeChecker{},
		GenerateEmbeddedObjectMeta: embedded,
	}
	crd.AddKnownTypes(parser)
	schemas := map[string]any{}
	for _, p := range loaded {
		parser.NeedPackage(p)
		for _, name := range strings.Fields(types[p.PkgPath]) {
			id := crd.TypeIdent{Package: p, Name: name}
			parser.NeedFlattenedSchemaFor(id)
			schema, found := parser.FlattenedSchemata[id]
			if !found || schema.Type == "" {
				return fmt.Errorf("%s has no type %s", p.PkgPath, name)
			}
			crd.TruncateDescription(&schema, 0)
			full := path.Base(path.Dir(p.PkgPath)) + "/" + path.Base(p.PkgPath) + "." + name
			example := examples[full]
			if example == "" && len(schema.Required) > 0 {
				return fmt.Errorf("%s requires %v and has no example", full, schema.Required)
			}
			schema.Title, schema.Example = full, &apiextensionsv1.JSON{Raw: []byte(cmp.Or(example, "{}"))}
			schemas[full] = schema
		}
	}
	if loader.PrintErrors(loaded, packages.TypeError) { // of dependencies only the types that are used are read
		return fmt.Errorf("the packages have errors")
	}
	data, err := json.Marshal(schemas)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	fmt.Printf("%d types, %d KiB, compressed %d KiB\n", len(schemas), len(data)>>10, out.Len()>>10)
	return os.WriteFile(file, out.Bytes(), 0o644) //nolint:gosec // a source file
}
