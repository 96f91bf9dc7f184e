package builtin_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/internal/kube/builtin"
)

// TestPairs tests fields of which each is valid, but not both: make agreement changes one field at a time.
func TestPairs(t *testing.T) {
	const pod = `metadata: {name: a}
spec:
  `
	const ingress = `metadata: {name: a, annotations: {kubernetes.io/ingress.class: a}}
spec:
  defaultBackend: {service: {name: a, port: {number: 80}}}
  `
	for _, tt := range []struct {
		object runtime.Object
		text   string
		want   string // the path of an error
	}{
		{&networkingv1.Ingress{}, ingress + `ingressClassName: a`, ""},
		{&networkingv1.Ingress{}, ingress + `ingressClassName: b`, "metadata.annotations[kubernetes.io/ingress.class]"},
		{&corev1.Pod{}, pod + `{schedulingGates: [{name: a}], containers: [{name: a, image: a}]}`, ""},
		{&corev1.Pod{}, pod + `{nodeName: a, schedulingGates: [{name: a}], containers: [{name: a, image: a}]}`, "spec.nodeName"},
		{
			&corev1.Pod{},
			pod + `{volumes: [{name: v, persistentVolumeClaim: {claimName: a}}], containers: [{name: a, image: a, volumeDevices: [{name: v, devicePath: /a}]}]}`, "",
		},
		{
			&corev1.Pod{},
			pod + `{volumes: [{name: v, emptyDir: {}}], containers: [{name: a, image: a, volumeDevices: [{name: v, devicePath: /a}]}]}`,
			"spec.containers[0].volumeDevices[0].name",
		},
		{
			&corev1.Pod{},
			pod + `{volumes: [{name: v, persistentVolumeClaim: {claimName: a}}], containers: [{name: a, image: a, volumeMounts: [{name: v, mountPath: /b}], volumeDevices: [{name: v, devicePath: /a}]}]}`,
			"spec.containers[0].volumeDevices[0].name",
		},
		{&corev1.Pod{}, pod + `{hostNetwork: true, securityContext: {sysctls: [{name: kernel.sem, value: "1"}]}, containers: [{name: a, image: a}]}`, ""},
		{
			&corev1.Pod{},
			pod + `{hostNetwork: true, securityContext: {sysctls: [{name: net.core.somaxconn, value: "1"}]}, containers: [{name: a, image: a}]}`,
			"spec.securityContext.sysctls[0].name",
		},
		{&corev1.Pod{}, pod + `{hostIPC: true, securityContext: {sysctls: [{name: kernel.shm_next_id, value: "1"}]}, containers: [{name: a, image: a}]}`, ""},
		{
			&corev1.Pod{},
			pod + `{hostIPC: true, securityContext: {sysctls: [{name: fs/mqueue/msg_max, value: "1"}]}, containers: [{name: a, image: a}]}`,
			"spec.securityContext.sysctls[0].name",
		},
		{&corev1.Pod{}, pod + `{os: {name: windows}, containers: [{name: a, image: a, securityContext: {windowsOptions: {runAsUserName: a}}}]}`, ""},
		{
			&corev1.Pod{},
			pod + `{os: {name: linux}, containers: [{name: a, image: a, securityContext: {windowsOptions: {runAsUserName: a}}}]}`,
			"spec.containers[0].securityContext.windowsOptions",
		},
		{
			&corev1.Pod{},
			pod + `{os: {name: linux}, securityContext: {windowsOptions: {runAsUserName: a}}, containers: [{name: a, image: a}]}`,
			"spec.securityContext.windowsOptions",
		},
		{&corev1.Pod{}, pod + `{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [a]}]}]}}}, containers: [{name: a, image: a}]}`, ""},
		{
			&corev1.Pod{},
			pod + `{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: metadata.uid, operator: In, values: [a]}]}]}}}, containers: [{name: a, image: a}]}`,
			"spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0].key",
		},
	} {
		if err := yaml.UnmarshalStrict([]byte(tt.text), tt.object); err != nil {
			t.Fatal(err)
		}
		got := builtin.Validate(tt.object).Refusals
		if tt.want == "" && len(got) > 0 || tt.want != "" && !slices.ContainsFunc(got, func(err *field.Error) bool { return err.Field == tt.want }) {
			t.Errorf("%s: got %v, want an error at %q", tt.text, got, tt.want)
		}
	}
}
