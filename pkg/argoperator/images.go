package argoperator

import (
	"slices"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
)

// Image is a container image in a definition.
type Image = definition.Image

// Lock is a file with the digests of images.
type Lock struct {
	File   string // path for the user to open
	Images []Image
}

// Locks returns the lock files of the definitions with their images. Definitions
// may share a file.
func Locks(sources []Source) ([]Lock, diag.List) {
	var locks []Lock
	var findings diag.List
	found := false
	parse := parser(sources)
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
		message, hint := "no definition sets install.imagesLock", "set install: {imagesLock: images.lock.yaml}"
		if !found {
			message, hint = "no definition found", "use -f with a file or directory that contains one"
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

// MarshalLock encodes a Lock from the images' digests, keyed by the image as
// written.
func MarshalLock(locked map[string]string) ([]byte, error) {
	return definition.MarshalImagesLock(locked)
}
