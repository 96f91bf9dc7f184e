package definition

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
)

// validationRule converts a rule of the definition to one of a schema.
func validationRule(v v1alpha1.Validation) apiextensionsv1.ValidationRule {
	return apiextensionsv1.ValidationRule{
		Rule: v.Rule, Message: v.Message, MessageExpression: v.MessageExpression, FieldPath: v.FieldPath,
	}
}
