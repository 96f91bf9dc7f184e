package schema

import (
	"k8s.io/gengo/namer"
	"k8s.io/gengo/types"
)

// GuessedPlural returns the resource that a Sensor calls for a kind. Argo Events
// never asks the API server: its k8s trigger takes gengo's spelling of the kind,
// with the exception below, which depends on case (DNS becomes dnss).
//
// This is a guess about somebody else's kind, made at run time. The plural that
// argoperator declares for a new kind is definition.Plural.
func GuessedPlural(kind string) string {
	exceptions := map[string]string{"EventBus": "eventbus"}
	return namer.NewAllLowercasePluralNamer(exceptions).Name(&types.Type{Name: types.Name{Name: kind}})
}
