package schema

import (
	"k8s.io/gengo/namer"
	"k8s.io/gengo/types"
)

// GuessedPlural returns the resource that a Sensor calls for a kind. Argo Events does
// not use discovery: its k8s trigger derives the plural with gengo, with the exception
// below, which depends on case (DNS becomes dnss).
//
// The function reproduces this guess for existing kinds. The plural that argoperator
// declares for a new kind is definition.Plural.
func GuessedPlural(kind string) string {
	exceptions := map[string]string{"EventBus": "eventbus"}
	return namer.NewAllLowercasePluralNamer(exceptions).Name(&types.Type{Name: types.Name{Name: kind}})
}
