// Package registry asks container registries for the digests of images, as the
// container tools do: with the credentials of docker's configuration, and over
// TLS but to this machine.
//
// The rule of this room: the one place that speaks to registries.
package registry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// patience with one image, with all that is tried again.
const patience = time.Minute

// Digest is what an image is at the moment, such as sha256:… of an index, where
// there is one for several platforms. Of what the registry refuses, and of a
// registry that does not answer, the error says the reason alone.
func Digest(ctx context.Context, image string) (string, error) {
	ref, err := name.ParseReference(image)
	if err != nil {
		return "", fmt.Errorf("not an image: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	found, err := remote.Head(ref, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain), remote.WithUserAgent("argoperator"))
	if refused := (*transport.Error)(nil); errors.As(err, &refused) {
		return "", fmt.Errorf("%s answers %d %s", ref.Context().RegistryStr(), refused.StatusCode, http.StatusText(refused.StatusCode))
	}
	if err != nil {
		return "", err
	}
	return found.Digest.String(), nil
}
