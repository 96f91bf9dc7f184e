package schema_test

import (
	"testing"

	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// TestRequiredByDefault asks for fields that the API server sets, and for others.
func TestRequiredByDefault(t *testing.T) {
	for _, tt := range []struct {
		apiVersion, kind string
		path             []string
		field            string
		want             bool
	}{
		{"v1", "Secret", nil, "type", true},
		{"v1", "Secret", nil, "immutable", false},
		{"apps/v1", "Deployment", []string{"spec"}, "replicas", true},
		{"apps/v1", "Deployment", []string{"spec"}, "paused", false},
		{"apps/v1", "StatefulSet", []string{"spec"}, "podManagementPolicy", true},
		{"apps/v1", "Deployment", []string{"status"}, "readyReplicas", false},
		{"batch/v1", "Job", []string{"spec"}, "backoffLimit", true},
		{"batch/v1", "Job", []string{"spec"}, "completions", false}, // not with parallelism
		{"batch/v1", "CronJob", []string{"spec"}, "concurrencyPolicy", true},
		{"v1", "Service", []string{"spec"}, "type", true},
		{"v1", "Service", []string{"spec"}, "internalTrafficPolicy", false}, // not of an ExternalName
		{"v1", "Pod", []string{"spec"}, "restartPolicy", true},
		{"v1", "PersistentVolumeClaim", []string{"spec"}, "volumeMode", true},
		{"v1", "PersistentVolumeClaim", []string{"spec"}, "storageClassName", false},
	} {
		kind, ok := schema.Builtin(tt.apiVersion, tt.kind)
		if !ok {
			t.Fatalf("there is no %s", tt.kind)
		}
		if got := schema.At(kind, tt.path...).Required(tt.field); got != tt.want {
			t.Errorf("%s: %v.%s is always there: %t, want %t", tt.kind, tt.path, tt.field, got, tt.want)
		}
	}
}
