package imagename

import "strings"

// Official returns the name and the tag of an official image of Docker Hub, such as python
// and 3.13-slim; "" for other images. The image must be valid.
func Official(image string) (name, tag string) {
	registry, rest := split(image)
	rest, _, _ = strings.Cut(rest, "@")
	path, tag, _ := strings.Cut(rest, ":")
	name, found := strings.CutPrefix(path, "library/")
	if registry != "docker.io" && registry != "index.docker.io" || !found {
		return "", ""
	}
	return name, tag
}
