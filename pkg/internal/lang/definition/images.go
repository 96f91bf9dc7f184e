package definition

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// Image is a container image that a definition refers to, for the operator's own pods
// or in the template of a child.
type Image struct {
	Name     string // as written
	Computed bool   // by an expression, so the image is unknown until run time
	At       diag.Position
}

// ImagesLock is the file with the digests of a definition's images, in the format of
// imgpkg and kbld of Carvel.
type ImagesLock struct {
	APIVersion string        `json:"apiVersion"`
	Kind       string        `json:"kind"`
	Images     []LockedImage `json:"images"`
}

// LockedImage is an image with its digest. An annotation has the image as written in
// the definition.
type LockedImage struct {
	Image       string            `json:"image"`
	Annotations map[string]string `json:"annotations"`
}

// The apiVersion and kind of an ImagesLock, and the annotation of its images.
const (
	lockVersion = "imgpkg.carvel.dev/v1alpha1"
	lockKind    = "ImagesLock"
	writtenAs   = "kbld.carvel.dev/id"
)

var withDigest = regexp.MustCompile(`@sha256:[0-9a-f]{64}$`)

// MarshalImagesLock encodes a lock file. The keys of locked are images as written, the
// values are images with digest.
func MarshalImagesLock(locked map[string]string) ([]byte, error) {
	lock := ImagesLock{APIVersion: lockVersion, Kind: lockKind, Images: []LockedImage{}}
	for _, name := range slices.Sorted(maps.Keys(locked)) {
		lock.Images = append(lock.Images, LockedImage{Image: locked[name], Annotations: map[string]string{writtenAs: name}})
	}
	data, err := yaml.Marshal(lock)
	if err != nil {
		return nil, fmt.Errorf("encoding the images: %w", err)
	}
	return data, nil
}

// images collects the images, and adds the digests of the lock file.
func (c *checker) images() {
	at, file := source.PathOf("spec", "install", "imagesLock"), c.op.Spec.Install.ImagesLock
	var locked map[string]string
	if c.Written(at) && c.has(file, at) {
		c.def.lockFile = c.beside(file)
		if !c.in.Unlocked {
			locked = c.readLock(at, file)
		}
	}
	c.eachImage(func(p source.Path, name string) string {
		computed := strings.Contains(name, "${")
		c.def.Images = append(c.def.Images, Image{Name: name, Computed: computed, At: c.At(p)})
		if locked == nil || computed || strings.Contains(name, "@") {
			return name
		}
		if locked[name] == "" {
			c.add(p, diag.MissingImageDigest, fmt.Sprintf("%s has no digest for the image %s", file, name),
				"run argoperator lock -f "+c.in.Name)
		}
		return cmp.Or(locked[name], name)
	})
}

// LockFile returns the path of the lock file, relative to the user's working directory,
// or "".
func (d *Definition) LockFile() string { return d.lockFile }

// readLock returns the images with digest by image.
func (c *checker) readLock(at source.Path, file string) map[string]string {
	locked, write := map[string]string{}, "argoperator lock -f "+c.in.Name+" writes it"
	if c.in.Dir != nil && fs.ValidPath(path.Clean(file)) {
		if _, err := fs.Stat(c.in.Dir, path.Clean(file)); errors.Is(err, fs.ErrNotExist) {
			c.add(at, diag.FileNotFound, fmt.Sprintf("there is no file %s", file), write)
			return nil
		}
	}
	data, ok := c.readFile(at, file)
	if !ok {
		return nil
	}
	docs, found := source.Load(c.beside(file), data, func([]byte) bool { return true })
	c.found = append(c.found, found...)
	if len(docs) == 1 && docs[0].Text("apiVersion") == lockVersion && docs[0].Text("kind") == lockKind {
		c.found = append(c.found, readImages(docs[0], locked)...)
		return locked
	}
	if len(found) == 0 {
		c.add(at, diag.WrongKind, fmt.Sprintf("%s is not an %s of %s", file, lockKind, lockVersion), write)
	}
	return nil
}

func readImages(doc source.Document, locked map[string]string) diag.List {
	found := slices.Clone(doc.Found)
	_, list, _ := doc.Find(source.PathOf("images"))
	for i := range list.Content {
		p := source.PathOf("images", i)
		image, name := doc.Text(p.To("image")...), doc.Text(p.To("annotations", writtenAs)...)
		switch {
		case !isReference(image) || !withDigest.MatchString(image):
			found.Add(
				doc.At(p.To("image")),
				diag.BadValue,
				fmt.Sprintf("%q is not an image with a digest", image),
				"write an image with its digest, such as python:3.13-slim@sha256:…",
			)
		case name == "":
			found.Add(doc.At(p), diag.MissingKey, "missing annotation "+writtenAs, "write the image there as it is in the definition")
		default:
			locked[name] = image
		}
	}
	return found
}

// eachImage calls visit for every image and replaces the image with the result: the
// images of the operator's pods and, like kustomize, of every container in a template.
func (c *checker) eachImage(visit func(p source.Path, name string) string) {
	spec := &c.op.Spec
	if logic := spec.Logic; logic != nil && logic.Image != "" {
		own := spec.Install.RuntimeImage == logic.Image && !c.Written(source.PathOf("spec", "install", "runtimeImage"))
		logic.Image = visit(source.PathOf("spec", "logic", "image"), logic.Image)
		if own {
			spec.Install.RuntimeImage = logic.Image
		}
	}
	if !withDigest.MatchString(spec.Install.RuntimeImage) && c.runsPods() {
		spec.Install.RuntimeImage = visit(source.PathOf("spec", "install", "runtimeImage"), spec.Install.RuntimeImage)
	}
	for i := range spec.Children {
		inContainers(spec.Children[i].Template, source.PathOf("spec", "children", i, "template"), visit)
	}
}

// runsPods reports whether the operator may run argoperator's steps in a pod.
func (c *checker) runsPods() bool {
	return c.op.Spec.Reconcile.Engine != "direct" || c.op.Spec.Install.TokenRotation != ""
}

func inContainers(value any, p source.Path, visit func(source.Path, string) string) {
	switch v := value.(type) {
	case []any:
		for i, inner := range v {
			inContainers(inner, p.To(i), visit)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if list, ok := v[key].([]any); ok && (key == "containers" || key == "initContainers") {
				ofContainers(list, p.To(key), visit)
			}
			inContainers(v[key], p.To(key), visit)
		}
	}
}

func ofContainers(list []any, p source.Path, visit func(source.Path, string) string) {
	for i, one := range list {
		container, _ := one.(map[string]any)
		if image, ok := container["image"].(string); ok && image != "" {
			container["image"] = visit(p.To(i, "image"), image)
		}
	}
}
