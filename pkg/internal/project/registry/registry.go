// Package registry resolves container images to digests like other container tools:
// with the credentials of Docker's configuration, and over TLS except on localhost.
//
// No other package talks to registries. It uses the authentication of
// go-containerregistry, but not the package that reads images, whose initialisation
// would slow down every start of the command.
package registry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// timeout for one image, including retries.
const timeout = time.Minute

// manifests are the accepted media types. An index comes first, so that the digest is
// valid for all platforms.
var manifests = strings.Join([]string{
	"application/vnd.oci.image.index.v1+json",
	"application/vnd.docker.distribution.manifest.list.v2+json",
	"application/vnd.oci.image.manifest.v1+json",
	"application/vnd.docker.distribution.manifest.v2+json",
}, ",")

// Digest returns the current digest of an image, such as sha256:…. If the registry
// rejects the request or does not respond, the error has only the reason.
func Digest(ctx context.Context, image string) (string, error) {
	ref, err := name.ParseReference(image)
	if err != nil {
		return "", fmt.Errorf("not an image: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	digest, err := head(ctx, ref)
	if refused := (*transport.Error)(nil); errors.As(err, &refused) {
		return "", fmt.Errorf("%s answers %d %s", ref.Context().RegistryStr(), refused.StatusCode, http.StatusText(refused.StatusCode))
	}
	return digest, err
}

func head(ctx context.Context, ref name.Reference) (string, error) {
	repository := ref.Context()
	who, err := authn.Resolve(ctx, authn.DefaultKeychain, repository)
	if err != nil {
		return "", fmt.Errorf("looking for credentials: %w", err)
	}
	signed, err := transport.NewWithContext(
		ctx,
		repository.Registry,
		who,
		transport.NewRetry(http.DefaultTransport),
		[]string{ref.Scope(transport.PullScope)},
	)
	if err != nil {
		return "", err
	}
	url := fmt.Sprintf(
		"%s://%s/v2/%s/manifests/%s",
		repository.Scheme(),
		repository.RegistryStr(),
		repository.RepositoryStr(),
		ref.Identifier(),
	)
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, url, nil)
	if err != nil {
		return "", err
	}
	request.Header.Set("Accept", manifests)
	response, err := (&http.Client{Transport: signed}).Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	if err := transport.CheckError(response, http.StatusOK); err != nil {
		return "", err
	}
	digest := response.Header.Get("Docker-Content-Digest")
	if digest == "" {
		return "", errors.New("the registry returned no digest")
	}
	return digest, nil
}
