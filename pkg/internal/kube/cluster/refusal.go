package cluster

import (
	"errors"
	"net/http"
)

// StatusError is an answer of the API server other than success.
type StatusError struct {
	Status  int
	Message string
}

func (r *StatusError) Error() string { return r.Message }

// IsNotFound reports whether an error means that an object does not exist.
func IsNotFound(err error) bool {
	var refused *StatusError
	return errors.As(err, &refused) && refused.Status == http.StatusNotFound
}
