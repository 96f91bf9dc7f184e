// Command generate writes the schemas of the types of k8s.io/api that a definition can
// use, as controller-gen makes them for CustomResourceDefinitions: make coretypes.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"strings"

	"golang.org/x/tools/go/packages"
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
	parser := &crd.Parser{Collector: &markers.Collector{Registry: registry}, Checker: &loader.TypeChecker{}, GenerateEmbeddedObjectMeta: embedded}
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
			schemas[path.Base(path.Dir(p.PkgPath))+"/"+path.Base(p.PkgPath)+"."+name] = schema
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
