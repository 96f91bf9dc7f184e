package argoperator

import (
	"slices"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/definition"
)

// Image is a container image that a definition names.
type Image = definition.Image

// Lock is a file for the digests of images, as definitions name it.
type Lock struct {
	File   string // as the user would open it
	Images []Image
}

// Locks are the files that the definitions name, with the images that belong
// there: definitions may share one.
func Locks(sources []Source) ([]Lock, diag.List) {
	var locks []Lock
	var findings diag.List
	found := false
	for _, source := range sources {
		source.Unlocked = true
		read := parse(source)
		findings = append(findings, read.findings...)
		for _, d := range read.definitions {
			found = true
			if d.LockFile() != "" {
				locks = add(locks, d.LockFile(), d.Images)
			}
		}
	}
	if len(locks) == 0 && !findings.HasErrors() {
		message, hint := "no definition names a file for the digests of its images", "write install: {imagesLock: images.lock.yaml}"
		if !found {
			message, hint = "no definition found", "name a file or a directory that holds one with -f"
		}
		findings.Add(diag.Position{}, diag.NoDefinition, message, hint)
	}
	return locks, findings.Sorted()
}

func add(locks []Lock, file string, images []Image) []Lock {
	i := slices.IndexFunc(locks, func(l Lock) bool { return l.File == file })
	if i < 0 {
		return append(locks, Lock{File: file, Images: images})
	}
	locks[i].Images = append(locks[i].Images, images...)
	return locks
}

// MarshalLock is the content of a Lock, of images with their digests by how they
// are written.
func MarshalLock(locked map[string]string) ([]byte, error) {
	return definition.MarshalImagesLock(locked)
}
