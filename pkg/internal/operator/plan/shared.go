package plan

import (
	"encoding/json"
	"reflect"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan/monitoring"
)

// Shared has the settings that operators of one install.group must agree on. The plan of
// a group has these settings of its operators and no others: what is not here, an operator
// has for itself. The tag is the key of the definition.
type Shared struct {
	Namespace         string             `key:"install.namespace"`
	Group             string             `key:"install.group"`           // empty: none
	WatchNamespaces   []string           `key:"install.watchNamespaces"` // empty: the whole cluster
	Replicas          int32              `key:"install.replicas"`
	LeaderElection    bool               `key:"install.replicas"`
	EventBus          EventBus           `key:"install.eventBus"`
	RuntimeImage      string             `key:"install.runtimeImage"`
	Resources         v1alpha1.Resources `key:"install.runtimeResources"`
	PodTemplate       PodTemplate        `key:"install.podTemplate"`
	AdmissionPolicies bool               `key:"install.admissionPolicies"`
	NetworkPolicies   bool               `key:"install.networkPolicies"`
	Monitoring        monitoring.Options `key:"install.monitoring"`
	Schedule          string             `key:"reconcile.resync"` // in cron's five fields
	Resync            time.Duration      `key:"reconcile.resync"`
	TimeoutSeconds    int64              `key:"reconcile.timeout"`
	Retries           int32              `key:"reconcile.retries"` // of a pod
}

// PodTemplate is what every pod of the operator has in addition.
type PodTemplate struct {
	Labels, Annotations map[string]string
	Spec                corev1.PodSpec // some of its fields
}

func podTemplate(in *v1alpha1.PodTemplate) PodTemplate {
	if in == nil {
		return PodTemplate{}
	}
	out := PodTemplate{Labels: in.Metadata.Labels, Annotations: in.Metadata.Annotations}
	if data, err := json.Marshal(in); err == nil {
		_ = json.Unmarshal(data, &out.Spec) // package childcheck reports what does not fit
	}
	return out
}

// EventBus configures the event bus.
type EventBus struct {
	Name         string
	Managed      bool
	Replicas     int32
	StorageClass string
	Storage      string
}

func shared(s v1alpha1.Spec) Shared {
	in := s.Install
	return Shared{
		Namespace:         in.Namespace,
		Group:             in.Group,
		WatchNamespaces:   slices.Clone(in.WatchNamespaces),
		Replicas:          *in.Replicas,
		LeaderElection:    *in.Replicas > 1,
		EventBus:          eventBus(in.EventBus),
		RuntimeImage:      in.RuntimeImage,
		PodTemplate:       podTemplate(in.PodTemplate),
		AdmissionPolicies: *in.AdmissionPolicies,
		NetworkPolicies:   in.NetworkPolicies,
		Monitoring:        monitoring.OptionsOf(in.Monitoring),
		Schedule:          schedule(duration(s.Reconcile.Resync)),
		Resync:            duration(s.Reconcile.Resync),
		TimeoutSeconds:    int64(duration(s.Reconcile.Timeout) / time.Second),
		Retries:           *s.Reconcile.Retries,
	}
}

func eventBus(in v1alpha1.EventBus) EventBus {
	if in.Mode != "managed" {
		return EventBus{Name: in.Name}
	}
	return EventBus{
		Name: in.Name, Managed: true, Replicas: *in.Replicas,
		StorageClass: in.StorageClass, Storage: in.Storage,
	}
}

// differingKey returns the key of the definition of a setting that differs; empty if the
// settings are equal.
func differingKey(a, b Shared) string {
	va, vb := reflect.ValueOf(a), reflect.ValueOf(b)
	for i := range va.NumField() {
		if !reflect.DeepEqual(va.Field(i).Interface(), vb.Field(i).Interface()) {
			return va.Type().Field(i).Tag.Get("key")
		}
	}
	return ""
}
