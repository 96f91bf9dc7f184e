// Package imagename reports whether the kubelet accepts a text as the name of a
// container image.
//
// It accepts what ParseNormalizedNamed of github.com/distribution/reference accepts. Its
// tests compare both. That library compiles its regular expressions when a program starts,
// which takes two million instructions of every run.
package imagename

import (
	"errors"
	"fmt"
	"strings"
)

// maxPath is the number of bytes that the path of an image may have, without registry,
// tag and digest.
const maxPath = 255

// Validate returns why the kubelet refuses an image.
func Validate(image string) error {
	if len(image) == 64 && only(image, hexadecimal) {
		return fmt.Errorf("invalid repository name (%s), cannot specify 64-byte hexadecimal strings", image)
	}
	registry, rest := split(image)
	if remote, _, _ := strings.Cut(rest, ":"); strings.ToLower(remote) != remote {
		return fmt.Errorf("invalid reference format: repository name (%s) must be lowercase", remote)
	}
	length, digest, ok := parse(registry, rest)
	switch {
	case !ok:
		if _, _, ok := parse(strings.ToLower(registry), strings.ToLower(rest)); ok {
			return errors.New("repository name must be lowercase")
		}
		return errors.New("invalid reference format")
	case length > maxPath:
		return fmt.Errorf("repository name must not be more than %d characters", maxPath)
	case digest != "":
		return knownDigest(digest)
	}
	return nil
}

// parse returns the length of the path and the digest of an image. The result ok reports
// whether its parts have the right form.
func parse(registry, rest string) (length int, digest string, ok bool) {
	rest, digest, hasDigest := strings.Cut(rest, "@")
	path, tag, hasTag := strings.Cut(rest, ":")
	if !isRegistry(registry) { // then it is the first part of the path
		path = registry + "/" + path
	}
	ok = isPath(path) && (!hasTag || isTag(tag)) && (!hasDigest || isDigest(digest))
	return len(path), digest, ok
}

// split returns the registry and the rest of an image. The registry is Docker Hub unless
// the first part of the image looks like a host.
func split(image string) (registry, rest string) {
	const hub = "docker.io"
	first, more, ok := strings.Cut(image, "/")
	switch {
	case !ok:
		return hub, "library/" + image
	case first == "index.docker.io" || first == hub:
		registry, rest = hub, more
	case first == "localhost" || strings.ContainsAny(first, ".:") || strings.ToLower(first) != first:
		return first, more
	default:
		return hub, image
	}
	if !strings.Contains(rest, "/") {
		rest = "library/" + rest
	}
	return registry, rest
}

const (
	digits      = "0123456789"
	lower       = "abcdefghijklmnopqrstuvwxyz"
	upper       = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	hexadecimal = digits + "abcdef"
)

// only reports whether a text is not empty and has no other characters than these.
func only(text, characters string) bool {
	return text != "" && strings.Trim(text, characters) == ""
}

// isRegistry reports whether a text is a host name or an IP address, with or without a
// port.
func isRegistry(text string) bool {
	host, port, hasPort := text, "", false
	if at := strings.LastIndexByte(text, ':'); at > strings.LastIndexByte(text, ']') {
		host, port, hasPort = text[:at], text[at+1:], true
	}
	if hasPort && !only(port, digits) {
		return false
	}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		address, closed := strings.CutSuffix(inner, "]")
		return closed && only(address, digits+"abcdefABCDEF:")
	}
	for label := range strings.SplitSeq(host, ".") {
		if !only(label, lower+upper+digits+"-") || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
	}
	return true
}

// isPath reports whether a text is one or more parts between slashes. A part is letters
// and digits, with a dot, one or two underscores or any number of dashes in between.
func isPath(text string) bool {
	for part := range strings.SplitSeq(text, "/") {
		for {
			rest := strings.TrimLeft(part, lower+digits)
			if rest == part {
				return false
			}
			if rest == "" {
				break
			}
			switch {
			case strings.HasPrefix(rest, "__"):
				part = rest[2:]
			case rest[0] == '.' || rest[0] == '_':
				part = rest[1:]
			default:
				part = strings.TrimLeft(rest, "-") // a wrong character is found in the next round
				if len(part) == len(rest) {
					return false
				}
			}
		}
	}
	return true
}

func isTag(text string) bool {
	return only(text, lower+upper+digits+"_.-") && text[0] != '.' && text[0] != '-' && len(text) <= 128
}

// isDigest reports whether a text is an algorithm, a colon and at least 32 hexadecimal
// digits.
func isDigest(text string) bool {
	algorithm, encoded, _ := strings.Cut(text, ":")
	for part := range strings.SplitSeq(strings.NewReplacer("-", "+", "_", "+", ".", "+").Replace(algorithm), "+") {
		if !only(part, lower+upper+digits) || strings.IndexByte(digits, part[0]) >= 0 {
			return false
		}
	}
	return len(encoded) >= 32 && only(encoded, hexadecimal+"ABCDEF")
}

// knownDigest returns an error unless the digest is one of the algorithms that registries
// use, with the number of digits of the algorithm.
func knownDigest(digest string) error {
	algorithm, encoded, _ := strings.Cut(digest, ":")
	length, known := map[string]int{"sha256": 64, "sha384": 96, "sha512": 128}[algorithm]
	switch {
	case !known && strings.ToLower(algorithm) != algorithm:
		return errors.New("invalid checksum digest format")
	case !known:
		return errors.New("unsupported digest algorithm")
	case len(encoded) != length:
		return errors.New("invalid checksum digest length")
	case !only(encoded, hexadecimal):
		return errors.New("invalid checksum digest format")
	}
	return nil
}
