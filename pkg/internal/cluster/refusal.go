package cluster

import (
	"errors"
	"net/http"
)

// Refusal is an answer of the API server other than success.
type Refusal struct {
	Status  int
	Message string
}

func (r *Refusal) Error() string { return r.Message }

// NotFound tells whether an error means that an object is not there.
func NotFound(err error) bool {
	var refused *Refusal
	return errors.As(err, &refused) && refused.Status == http.StatusNotFound
}
