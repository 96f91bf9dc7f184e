package resource

import (
	"slices"
	"strings"
	"unicode"
)

// likelyTexts are typical texts by the words of a field's name: the first entry with
// the last word or, without one, the first with any word. No text looks like a secret.
var likelyTexts = []struct{ words, text string }{
	{"password passphrase token apikey secretkey credential credentials", "change-me"},
	{"email mail", "user@example.com"},
	{"image", "docker.io/library/nginx:1.29"},
	{"registry", "docker.io"},
	{"tag version", "1.2.3"},
	{"cron schedule", "0 3 * * *"},
	{"timezone", "Etc/UTC"},
	{"cidr subnet", "10.0.0.0/16"},
	{"ip", "192.0.2.1"},
	{"url uri issuer", "https://example.com"},
	{"repo repository", "https://example.com/repository"},
	{"endpoint server address", "example.com:8080"},
	{"host hostname hosts domain fqdn", "example.com"},
	{"duration timeout interval period ttl delay lifetime backoff retention", "5m"},
	{"storage memory disk capacity quota", "1Gi"},
	{"cpu", "500m"},
	{"percent percentage", "50%"},
	{"path dir directory folder", "/data"},
	{"file filename", "config.yaml"},
	{"namespace", "default"},
	{"region", "eu-central-1"},
	{"branch revision ref", "main"},
	{"database db", "app"},
	{"user username", "user"},
	{"port", "http"},
	{"level", "info"},
	{"topologykey", "kubernetes.io/hostname"},
	{"storageclass", "standard"},
	{"class", "standard"},
	{"description message comment note", "A sample"},
	{"title", "Sample"},
	{"selector", "app=sample"},
}

// named are words whose neighbours are more significant: a storageClassName is a class.
const named = "name secret configmap"

// likelyNumbers has the same for numbers. An invalid number is replaced by the nearest
// valid one.
var likelyNumbers = []struct {
	words  string
	number float64
}{
	{"port", 8080},
	{"seconds", 30},
	{"minutes", 5},
	{"percent percentage", 50},
	{"mode", 420}, // 0644
	{"replicas", 3},
}

// plainTexts are tried for a pattern first, because they are more readable than texts
// generated from it.
var plainTexts = []string{
	"sample", "Sample", "1Gi", "5m", "5m0s", "1.2.3", "v1.2.3", "v1", "example.com", "https://example.com", "example.com/sample",
	"user@example.com",
	"10.0.0.0/16", "192.0.2.1", "0 3 * * *", "/data", "50%", "8080", "1", "0644", "us-east-1", "2026-01-02T03:04:05Z", "sha256:" + digest,
}

// digest is the SHA-256 of an empty input.
const digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// likely returns typical texts of a field, or none.
func likely(name string) []string {
	var out []string
	for _, word := range wordsOf(name) {
		for _, l := range likelyTexts {
			if slices.Contains(strings.Fields(l.words), word) && !slices.Contains(out, l.text) {
				out = append(out, l.text)
			}
		}
	}
	if slices.ContainsFunc(wordsOf(name), func(word string) bool { return slices.Contains(strings.Fields(named), word) }) {
		out = append(out, "sample")
	}
	return out
}

func likelyNumber(name string) (float64, bool) {
	for _, word := range wordsOf(name) {
		for _, l := range likelyNumbers {
			if slices.Contains(strings.Fields(l.words), word) {
				return l.number, true
			}
		}
	}
	return 0, false
}

// wordsOf returns the words of a name: as one, the last two, and each from the last to
// the first. accessKeyName becomes accesskeyname, keyname, name, key, access.
func wordsOf(name string) []string {
	var words []string
	begin := true
	for i, c := range name {
		switch {
		case !unicode.IsLetter(c) && !unicode.IsDigit(c):
			begin = true
			continue
		case unicode.IsUpper(c) && i > 0 && unicode.IsLower(rune(name[i-1])), begin:
			words = append(words, "")
		}
		begin = false
		words[len(words)-1] += string(unicode.ToLower(c))
	}
	if len(words) == 0 {
		return nil
	}
	out := []string{strings.Join(words, "")}
	if len(words) > 1 {
		out = append(out, strings.Join(words[len(words)-2:], ""))
	}
	slices.Reverse(words)
	for _, word := range words {
		out = append(out, word, singular(word))
	}
	return out
}
