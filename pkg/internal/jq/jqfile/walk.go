package jqfile

import (
	"github.com/itchyny/gojq"

	"github.com/argoperator/argoperator/pkg/internal/jq/jq"
)

// each calls a function for a query and for every query in it.
func each(q *gojq.Query, f func(*gojq.Query)) {
	jq.Walk(q, func(node any) bool {
		if q, ok := node.(*gojq.Query); ok {
			f(q)
		}
		return true
	})
}
