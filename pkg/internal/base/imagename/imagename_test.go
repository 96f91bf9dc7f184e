package imagename

import (
	_ "crypto/sha512" // the library knows the algorithms that a program links
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/distribution/reference"
)

var images = []string{
	"", "a", "A", "nginx", "nginx:1.27", "nginx:", "nginx:.1", "nginx:-1", "library/nginx", "docker.io/nginx", "docker.io/library/nginx:1", "index.docker.io/nginx",
	"localhost/a", "localhost:5000/a", "registry.example.com/team/image:1.2.3", "registry.example.com:5000/a:b", "registry.example.com:/a", "registry.example.com:x/a",
	"[::1]/a", "[::1]:5000/a", "[::1:5000/a", "[]/a", "[g]/a", "::1/a", "a.b/c", "a_b.c/d", "a..b/c", "a.-b/c", "-a.b/c", "Registry/a", "Registry_X/a", "a/B", "a/b:C", "a/b:c/d", "a:b/c:d", "a_b:5/c",
	"a__b", "a___b", "a--b", "a---b", "a.b", "a..b", "a._b", "a-", "-a", "a/", "/a", "a//b", " a", "a b", "a\n", "ä", "a/ä:b", "\xff", "a:\xff",
	"${ .spec.image }", "<image>", "https://example.com/a", "a@b", "a@sha256:", "@sha256:" + strings.Repeat("a", 64),
	"a@sha256:" + strings.Repeat("a", 64), "a@sha256:" + strings.Repeat("A", 64), "a@sha256:" + strings.Repeat("g", 64), "a@sha256:" + strings.Repeat("a", 63), "a@sha256:" + strings.Repeat("a", 32),
	"a:b@sha256:" + strings.Repeat("a", 64), "a@sha512:" + strings.Repeat("a", 128), "a@sha384:" + strings.Repeat("a", 96), "a@SHA256:" + strings.Repeat("a", 64), "a@md5:" + strings.Repeat("a", 32),
	"a@sha256+b64:" + strings.Repeat("a", 64), "a@1sha:" + strings.Repeat("a", 64), "a@a..b:" + strings.Repeat("a", 64), "a@a@b:" + strings.Repeat("a", 64), "r.io/a@B.c:" + strings.Repeat("a", 64),
	strings.Repeat("a", 64), strings.Repeat("g", 64), strings.Repeat("a", 63), strings.Repeat("A", 64), "a/" + strings.Repeat("a", 64),
	strings.Repeat("a", 247), strings.Repeat("a", 248), "a.b/" + strings.Repeat("a", 255), "a.b/" + strings.Repeat("a", 256), "a_.b/" + strings.Repeat("a", 250), "a_b.c/" + strings.Repeat("a", 249), "a_b.c/" + strings.Repeat("a", 250),
	"a:" + strings.Repeat("a", 128), "a:" + strings.Repeat("a", 129),
}

// TestValidate requires the result and the message of the library.
func TestValidate(t *testing.T) {
	for _, image := range images {
		compare(t, image)
	}
}

// TestValidateRandom joins parts of images at random.
func TestValidateRandom(t *testing.T) {
	parts := []string{"a", "b1", "A", ".", "..", "-", "--", "_", "__", "/", ":", "@", "5000", "localhost", "docker.io", "index.docker.io", "[", "]", "::", "sha256:", "sha512:", strings.Repeat("0a", 32), strings.Repeat("b", 128), "+", " ", "é", "\xfe"}
	random := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		var b strings.Builder
		for range 1 + random.IntN(9) {
			b.WriteString(parts[random.IntN(len(parts))])
		}
		if compare(t, b.String()); t.Failed() {
			return
		}
	}
}

func FuzzValidate(f *testing.F) {
	for _, image := range images {
		f.Add(image)
	}
	f.Fuzz(func(t *testing.T, image string) { compare(t, image) })
}

func compare(t *testing.T, image string) {
	t.Helper()
	text := func(err error) string {
		if err == nil {
			return "valid"
		}
		return err.Error()
	}
	_, want := reference.ParseNormalizedNamed(image)
	if got := Validate(image); text(got) != text(want) {
		t.Errorf("%q: %s, want %s", image, text(got), text(want))
	}
}
