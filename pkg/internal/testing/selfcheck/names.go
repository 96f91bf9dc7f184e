package selfcheck

import (
	"maps"
	"slices"
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	pathvalidation "k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/internal/kube/argo"
	"github.com/argoperator/argoperator/pkg/internal/kube/problem"
	"github.com/argoperator/argoperator/pkg/manifest"
)

// names reports invalid names, missing namespaces and duplicate objects.
func names(o objects) []problem.Problem {
	var out []problem.Problem
	seen := map[string]bool{}
	for _, object := range o.List {
		r := problem.About(object)
		if key := problem.Reference(object) + "/" + object.GetNamespace(); seen[key] {
			r.Add(nil, codeDuplicate, "", "emitted twice: the second would overwrite the first")
		} else {
			seen[key] = true
		}
		checkNamespace(r, object)
		for _, message := range nameValidator(object)(object.GetName()) {
			r.Add(field.NewPath("metadata", "name"), codeName, "", "%q: %s", object.GetName(), message)
		}
		nestedNames(r, object)
		out = append(out, r.Problems...)
	}
	return out
}

func checkNamespace(r *problem.Report, object manifest.Object) {
	clusterScoped := false
	switch object.(type) {
	case *apiextensionsv1.CustomResourceDefinition, *rbacv1.ClusterRole, *rbacv1.ClusterRoleBinding, *corev1.Namespace,
		*admissionregistrationv1.ValidatingAdmissionPolicy, *admissionregistrationv1.ValidatingAdmissionPolicyBinding:
		clusterScoped = true
	}
	at := field.NewPath("metadata", "namespace")
	switch {
	case clusterScoped && object.GetNamespace() != "":
		r.Add(at, codeNamespace, "", "a cluster-scoped object has no namespace")
	case !clusterScoped && object.GetNamespace() == "":
		r.Add(at, codeNamespace, "", "no namespace: it would land wherever kubectl happens to point")
	}
}

// nameValidator returns the validation of a kind's names. Argo Events uses names in
// subjects, consumers and labels, and a dot breaks the subject.
func nameValidator(object manifest.Object) func(string) []string {
	switch object.(type) {
	case *eventsv1.EventBus, *eventsv1.EventSource, *eventsv1.Sensor, *corev1.Namespace:
		return validation.IsDNS1123Label
	case *corev1.Service:
		return validation.IsDNS1035Label
	case *rbacv1.Role, *rbacv1.ClusterRole, *rbacv1.RoleBinding, *rbacv1.ClusterRoleBinding:
		return func(name string) []string {
			if name == "" {
				return []string{"must not be empty"}
			}
			return pathvalidation.IsValidPathSegmentName(name)
		}
	case *apiextensionsv1.CustomResourceDefinition:
		return func(string) []string { return nil } // the API server's own validation covers it
	}
	return validation.IsDNS1123Subdomain
}

// nestedNames reports invalid names inside Argo's objects that are used in
// subjects, label values or pod names.
func nestedNames(r *problem.Report, object manifest.Object) {
	switch o := object.(type) {
	case *eventsv1.EventSource:
		for _, name := range slices.Sorted(maps.Keys(o.Spec.Resource)) {
			checkLabel(r, field.NewPath("spec", "resource").Key(name), name)
		}
	case *eventsv1.Sensor:
		for i, d := range o.Spec.Dependencies {
			checkLabel(r, field.NewPath("spec", "dependencies").Index(i).Child("name"), d.Name)
		}
		for _, t := range argo.Triggers(o) {
			checkLabel(r, t.Path.Child("template", "name"), t.Template.Name)
		}
		duplicateDependencies(r, o)
	case *wfv1.WorkflowTemplate:
		checkTemplateNames(r, field.NewPath("spec"), o.Spec)
	case *wfv1.CronWorkflow:
		checkTemplateNames(r, field.NewPath("spec", "workflowSpec"), o.Spec.WorkflowSpec)
	}
}

func checkTemplateNames(r *problem.Report, at *field.Path, spec wfv1.WorkflowSpec) {
	for i, t := range spec.Templates {
		checkLabel(r, at.Child("templates").Index(i).Child("name"), t.Name)
	}
}

func checkLabel(r *problem.Report, at *field.Path, name string) {
	if messages := validation.IsDNS1123Label(name); len(messages) > 0 {
		r.Add(at, codeName, "", "%q: %s", name, strings.Join(messages, "; "))
	}
}

// duplicateDependencies reports dependencies with the same name. Argo accepts them,
// but cannot tell them apart: it replaces '-' by '_' before it compares names.
func duplicateDependencies(r *problem.Report, s *eventsv1.Sensor) {
	seen := map[string]bool{}
	for i, d := range s.Spec.Dependencies {
		key := strings.ReplaceAll(d.Name, "-", "_")
		if seen[key] {
			r.Add(
				field.NewPath("spec", "dependencies").Index(i).Child("name"),
				codeDuplicate,
				"",
				"dependency %q is there twice",
				d.Name,
			)
		}
		seen[key] = true
	}
}
