package definition

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// lettersAndDigits are the characters of a generated text, unless a definition says others.
const lettersAndDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// maxGenerated limits the characters or bytes of a random value.
const maxGenerated = 4096

// generate checks the random values of Secrets.
func (c *checker) generate() {
	for i, child := range c.op.Spec.Children {
		p := source.PathOf("spec", "children", i)
		at := p.To("generate")
		if len(child.Generate) == 0 {
			continue
		}
		if child.APIVersion != "v1" || child.Kind != "Secret" || !c.hasTemplate(p) {
			c.addKey(at, diag.ConflictingKeys, "generate is for a Secret with a template",
				"remove the key, or write a template of apiVersion v1 and kind Secret")
			continue
		}
		for _, key := range source.SortedKeys(child.Generate) {
			c.generatedKey(child, key, at.To(key))
			c.generated(child.Generate[key], at.To(key))
		}
	}
}

// generatedKey checks the key of a value, which only one place may write.
func (c *checker) generatedKey(child v1alpha1.Child, key string, at source.Path) {
	if len(validation.IsConfigMapKey(key)) > 0 {
		c.addKey(at, diag.BadName, fmt.Sprintf("%q is no key of a Secret", key), "use up to 253 letters, digits, '-', '_' and '.'")
	}
	for _, field := range []string{"data", "stringData"} {
		values, _ := child.Template[field].(map[string]any)
		if _, written := values[key]; written {
			c.addKey(at, diag.DuplicateValue, fmt.Sprintf("%s of the template has the key %s, too", field, key), "remove one of them")
		}
	}
}

func (c *checker) generated(g v1alpha1.Generated, at source.Path) {
	for _, other := range []string{"length", "characters"} {
		if c.Written(at.To("bytes")) && c.Written(at.To(other)) {
			c.addKey(at.To(other), diag.ConflictingKeys, other+" describes a text, and bytes are none", "remove one of them")
		}
	}
	for key, value := range map[string]*int32{"length": g.Length, "bytes": &g.Bytes} {
		if p := at.To(key); c.Written(p) && (*value < 1 || *value > maxGenerated) {
			c.add(p, diag.BadValue, fmt.Sprintf("%s is %d, want 1 to %d", key, *value, maxGenerated), "")
		}
	}
	if !c.has(g.Characters, at.To("characters")) {
		return
	}
	seen := ""
	for _, r := range g.Characters {
		if strings.ContainsRune(seen, r) {
			c.add(at.To("characters"), diag.DuplicateValue, fmt.Sprintf("%q is there twice", r),
				"write each character once, so that all are as likely")
			return
		}
		seen += string(r)
	}
	if utf8.RuneCountInString(seen) == 1 {
		c.add(at.To("characters"), diag.BadValue, "a text of one character can be guessed", "write more characters")
	}
}

// defaultGenerated sets the defaults of the random values of a child.
func defaultGenerated(child *v1alpha1.Child) {
	for key, g := range child.Generate {
		if g.Bytes == 0 {
			fillPointer(&g.Length, 32)
			fill(&g.Characters, lettersAndDigits)
		}
		child.Generate[key] = g
	}
}
