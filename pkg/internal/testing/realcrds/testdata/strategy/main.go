// Command strategy answers requests as the API server's registry of custom
// resources does: it runs the strategy that the server runs. It reads a JSON
// value for each request and writes one for each answer.
//
// It is built in a module of its own by strategy_test.go, because what the
// server leans on is nothing that argoperator should.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
)

type asked struct {
	CRD         json.RawMessage // null: that of the request before
	Version     string
	Object, Old json.RawMessage
}

type said struct{ Field, Message string }

func main() {
	if err := answer(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func answer(in io.Reader, out io.Writer) error {
	var crd apiextensionsv1.CustomResourceDefinition
	var strategy rest.RESTCreateUpdateStrategy
	decoder, encoder := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var a asked
		if err := decoder.Decode(&a); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if len(a.CRD) > 4 {
			crd = apiextensionsv1.CustomResourceDefinition{}
			if err := json.Unmarshal(a.CRD, &crd); err != nil {
				return err
			}
			var err error
			if strategy, err = strategyOf(&crd, a.Version); err != nil {
				return err
			}
		}
		answer, err := judge(strategy, &crd, a)
		if err != nil {
			return err
		}
		if err := encoder.Encode(answer); err != nil {
			return err
		}
	}
}

func judge(strategy rest.RESTCreateUpdateStrategy, crd *apiextensionsv1.CustomResourceDefinition, a asked) ([]said, error) {
	object, old := &unstructured.Unstructured{}, &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(a.Object, &object.Object); err != nil {
		return nil, err
	}
	ctx := request.WithNamespace(context.Background(), "")
	if crd.Spec.Scope == apiextensionsv1.NamespaceScoped {
		ctx = request.WithNamespace(ctx, cmp.Or(object.GetNamespace(), "default"))
	}
	var err error
	if len(a.Old) > 4 {
		if err := utiljson.Unmarshal(a.Old, &old.Object); err != nil {
			return nil, err
		}
		err = rest.BeforeUpdate(strategy, ctx, object, old)
	} else {
		rest.FillObjectMetaSystemFields(object)
		err = rest.BeforeCreate(strategy, ctx, object)
	}
	answer := []said{}
	var status *apierrors.StatusError
	switch {
	case err == nil:
	case errors.As(err, &status) && status.ErrStatus.Details != nil && len(status.ErrStatus.Details.Causes) > 0:
		for _, cause := range status.ErrStatus.Details.Causes {
			answer = append(answer, said{cause.Field, cause.Message})
		}
	default:
		answer = append(answer, said{"", err.Error()})
	}
	return answer, nil
}

func strategyOf(crd *apiextensionsv1.CustomResourceDefinition, version string) (rest.RESTCreateUpdateStrategy, error) {
	for _, v := range crd.Spec.Versions {
		if v.Name != version {
			continue
		}
		props := &apiextensions.JSONSchemaProps{}
		if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.Schema.OpenAPIV3Schema, props, nil); err != nil {
			return nil, err
		}
		s, err := structural.NewStructural(props)
		if err != nil {
			return nil, err
		}
		validator, _, err := validation.NewSchemaValidator(props)
		if err != nil {
			return nil, err
		}
		kind := schema.GroupVersionKind{Group: crd.Spec.Group, Version: v.Name, Kind: crd.Spec.Names.Kind}
		var status *apiextensions.CustomResourceSubresourceStatus
		var scale *apiextensions.CustomResourceSubresourceScale
		if v.Subresources != nil && v.Subresources.Status != nil {
			status = &apiextensions.CustomResourceSubresourceStatus{}
		}
		if v.Subresources != nil && v.Subresources.Scale != nil {
			scale = &apiextensions.CustomResourceSubresourceScale{
				SpecReplicasPath: v.Subresources.Scale.SpecReplicasPath, StatusReplicasPath: v.Subresources.Scale.StatusReplicasPath,
				LabelSelectorPath: v.Subresources.Scale.LabelSelectorPath,
			}
		}
		return customresource.NewStrategy(typer{}, crd.Spec.Scope == apiextensionsv1.NamespaceScoped, kind, validator, nil, s, status, scale, v.SelectableFields), nil
	}
	return nil, fmt.Errorf("%s has no version %s", crd.Name, version)
}

// typer says that an object is what it says it is.
type typer struct{}

func (typer) ObjectKinds(o runtime.Object) ([]schema.GroupVersionKind, bool, error) {
	return []schema.GroupVersionKind{o.GetObjectKind().GroupVersionKind()}, false, nil
}

func (typer) Recognizes(schema.GroupVersionKind) bool { return true }
