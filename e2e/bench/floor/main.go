// Command floor prints the objects of one operator so many times, in their real
// types and by sigs.k8s.io/yaml: what no generator that uses both can be below.
//
//	floor FILE COUNT
//
// It reads them from a file, since something has to make them, and checks nothing.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "floor:", err)
		os.Exit(1)
	}
}

func run(file, count string) error {
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(file) //nolint:gosec // it is told which
	if err != nil {
		return err
	}
	var objects []any
	for _, document := range bytes.Split(data, []byte("\n---\n")) {
		object, err := typed(document)
		if err != nil {
			return err
		}
		objects = append(objects, object)
	}
	out := bufio.NewWriter(os.Stdout)
	for range n {
		for _, object := range objects {
			data, err := yaml.Marshal(object)
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(out, "%s---\n", data); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}

// kinds are the types of what operators consist of.
var kinds = map[string]func() any{
	"CustomResourceDefinition": func() any { return &apiextensionsv1.CustomResourceDefinition{} },
	"ServiceAccount":           func() any { return &corev1.ServiceAccount{} },
	"Secret":                   func() any { return &corev1.Secret{} },
	"ConfigMap":                func() any { return &corev1.ConfigMap{} },
	"Role":                     func() any { return &rbacv1.Role{} },
	"RoleBinding":              func() any { return &rbacv1.RoleBinding{} },
	"ClusterRole":              func() any { return &rbacv1.ClusterRole{} },
	"ClusterRoleBinding":       func() any { return &rbacv1.ClusterRoleBinding{} },
	"EventBus":                 func() any { return &eventsv1.EventBus{} },
	"EventSource":              func() any { return &eventsv1.EventSource{} },
	"Sensor":                   func() any { return &eventsv1.Sensor{} },
	"WorkflowTemplate":         func() any { return &wfv1.WorkflowTemplate{} },
	"CronWorkflow":             func() any { return &wfv1.CronWorkflow{} },

	"ValidatingAdmissionPolicy":        func() any { return &admissionregistrationv1.ValidatingAdmissionPolicy{} },
	"ValidatingAdmissionPolicyBinding": func() any { return &admissionregistrationv1.ValidatingAdmissionPolicyBinding{} },
}

func typed(document []byte) (any, error) {
	var meta metav1.TypeMeta
	if err := yaml.Unmarshal(document, &meta); err != nil {
		return nil, err
	}
	newObject := kinds[meta.Kind]
	if newObject == nil {
		return nil, fmt.Errorf("nothing is known of the kind %q", meta.Kind)
	}
	object := newObject()
	return object, yaml.Unmarshal(document, object)
}
