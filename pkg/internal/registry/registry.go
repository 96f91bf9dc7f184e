// Package registry asks container registries for the digests of images, as the
// container tools do: with the credentials of docker's configuration, and over
// TLS but to this machine.
//
// The rule of this package: the one place that speaks to registries. It takes from
// go-containerregistry what signs in, and not what reads images: that would be
// initialised at every start of the command.
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

// patience with one image, with all that is tried again.
const patience = time.Minute

// manifests are the types of what an image is: an index comes first, so that the
// digest is one for all platforms.
var manifests = strings.Join([]string{
	"application/vnd.oci.image.index.v1+json",
	"application/vnd.docker.distribution.manifest.list.v2+json",
	"application/vnd.oci.image.manifest.v1+json",
	"application/vnd.docker.distribution.manifest.v2+json",
}, ",")

// Digest is what an image is at the moment, such as sha256:…. Of what the registry
// refuses, and of one that does not answer, the error says the reason alone.
func Digest(ctx context.Context, image string) (string, error) {
	ref, err := name.ParseReference(image)
	if err != nil {
		return "", fmt.Errorf("not an image: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
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
	signed, err := transport.NewWithContext(ctx, repository.Registry, who, transport.NewRetry(http.DefaultTransport), []string{ref.Scope(transport.PullScope)})
	if err != nil {
		return "", err
	}
	url := fmt.Sprintf("%s://%s/v2/%s/manifests/%s", repository.Scheme(), repository.RegistryStr(), repository.RepositoryStr(), ref.Identifier())
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
		return "", errors.New("the registry names no digest")
	}
	return digest, nil
}
