package definition

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gobuffalo/flect"
	"k8s.io/apimachinery/pkg/util/validation"
)

const alphabet = "abcdefghijklmnopqrstuvwxyz0123456789"

// TestPluralIsThatOfControllerTools compares the plurals of all words. A rule depends
// on the end of a word, and the ends that matter begin the words in the source of the
// library. So it is enough to compare each such end, with and without more before it.
func TestPluralIsThatOfControllerTools(t *testing.T) {
	dir := moduleDir(t, ".", "github.com/gobuffalo/flect")
	ends := map[string]bool{"": true}
	for _, file := range []string{"plural_rules.go", "acronyms.go"} {
		data, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range regexp.MustCompile(`"(\w+)"`).FindAllStringSubmatch(string(data), -1) {
			for i := range word[1] {
				ends[strings.ToLower(word[1][i:])] = true
			}
		}
	}
	if len(ends) < 1000 {
		t.Errorf("only %d ends of words", len(ends))
	}
	for end := range ends {
		comparePlural(t, end)
		for _, letter := range alphabet {
			for _, before := range []string{"", "0", "q"} {
				comparePlural(t, before+string(letter)+end)
			}
		}
	}
}

// TestPluralOfWords compares the plurals of English words, of compounds of them, and
// of random letters.
func TestPluralOfWords(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(moduleDir(t, "../../../../e2e/tools", "github.com/vale-cli/vale/v3"), "internal/spell/data/en_US-web.dic"))
	if err != nil {
		t.Skipf("no dictionary in the module cache: %v", err)
	}
	words := regexp.MustCompile(`(?m)^[A-Za-z]+`).FindAllString(string(data), -1)
	if len(words) < 40_000 {
		t.Errorf("only %d words", len(words))
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, word := range words {
		letters := make([]byte, 1+random.IntN(12))
		for i := range letters {
			letters[i] = alphabet[random.IntN(len(alphabet))]
		}
		comparePlural(t, word)
		comparePlural(t, words[random.IntN(len(words))]+word)
		comparePlural(t, string(letters))
	}
}

func comparePlural(t *testing.T, kind string) {
	t.Helper()
	want := flect.Pluralize(strings.ToLower(kind))
	if len(validation.IsDNS1123Label(want)) > 0 {
		want = strings.ToLower(kind) + "es"
	}
	if got := Plural(kind); got != want && kind != "" {
		t.Errorf("Plural(%s) = %s, want %s", kind, got, want)
	}
}

// moduleDir returns the directory of a module that the module in dir requires.
func moduleDir(t *testing.T, dir, module string) string {
	t.Helper()
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
