package lint

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/source"
)

// ConfigFile is the default name of the configuration file.
const ConfigFile = ".argoperator-lint.yaml"

// Config configures the linter: target versions and severities of rules.
type Config struct {
	APIVersion string        `yaml:"apiVersion"` // argoperator.dev/v1alpha1
	Kind       string        `yaml:"kind"`       // LintConfig
	Targets    TargetsConfig `yaml:"targets"`
	Profile    string        `yaml:"profile"` // recommended, the default, or strict
	Exclude    []string      `yaml:"exclude"` // files that are not checked, as in files of a rule
	Rules      []RuleConfig  `yaml:"rules"`

	// Base is the path from the directory of the file to the working directory, where the names of
	// files begin; patterns begin in the former.
	Base string `yaml:"-"`
}

// TargetsConfig sets the versions that the manifests must work with.
type TargetsConfig struct {
	// ArgoWorkflows is a version such as "4.0", the default.
	ArgoWorkflows string `yaml:"argoWorkflows"`
}

// RuleConfig overrides the severity of a rule. The first matching entry applies.
type RuleConfig struct {
	Code     string `yaml:"code"`
	Severity string `yaml:"severity"` // error, warning or off
	// path.Match patterns, where * does not match a slash; dir/** matches a whole directory; empty: all files
	Files   []string `yaml:"files"`
	Objects []string `yaml:"objects"` // KIND/NAME; empty: all objects
	Reason  string   `yaml:"reason"`  // required
}

// The profiles: what an expert would change today, and all rules.
const (
	recommended = "recommended"
	strict      = "strict"
)

const configHint = "begin it with apiVersion: argoperator.dev/v1alpha1 and kind: LintConfig"

// ReadConfig parses a configuration and reports errors as findings.
func ReadConfig(name string, data []byte) (*Config, diag.List) {
	var root yaml.Node
	var c Config
	var findings diag.List
	if source.TooLarge(&findings, diag.Position{File: name}, data) {
		return nil, findings
	}
	at := func(n *yaml.Node) diag.Position { return diag.Position{File: name, Line: n.Line, Column: n.Column} }
	if err := yaml.Unmarshal(data, &root); err != nil || len(root.Content) == 0 {
		findings.Add(diag.Position{File: name}, diag.YAMLSyntax, "not valid YAML, or empty", configHint)
		return nil, findings
	}
	known(root.Content[0], at, &findings, "apiVersion", "kind", "targets", "profile", "exclude", "rules")
	if err := root.Decode(&c); err != nil {
		message, line := source.YAMLError(err)
		findings.Add(diag.Position{File: name, Line: line}, diag.WrongType, message, "")
		return nil, findings
	}
	if c.APIVersion != v1alpha1.APIVersion || c.Kind != ConfigKind {
		findings.Add(at(root.Content[0]), diag.WrongKind, "not a LintConfig", configHint)
	}
	if _, err := version(c.Targets.ArgoWorkflows); err != nil {
		findings.Add(at(valueOf(valueOf(root.Content[0], "targets"), "argoWorkflows")), diag.BadValue, err.Error(), `for example "4.0"`)
	}
	if !slices.Contains([]string{"", recommended, strict}, c.Profile) {
		findings.Add(at(valueOf(root.Content[0], "profile")), diag.BadValue, fmt.Sprintf("unknown profile %q", c.Profile),
			"use "+recommended+" or "+strict)
	}
	if exclude := valueOf(root.Content[0], "exclude"); exclude.Kind == yaml.SequenceNode {
		for i, pattern := range c.Exclude {
			validPattern(pattern, "exclude", at(exclude.Content[i]), &findings)
		}
	}
	if rules := valueOf(root.Content[0], "rules"); rules.Kind == yaml.SequenceNode {
		for i, n := range rules.Content {
			known(n, at, &findings, "code", "severity", "files", "objects", "reason")
			c.Rules[i].validate(at(n), &findings)
		}
	}
	return &c, findings
}

// known reports unknown keys of a mapping.
func known(n *yaml.Node, at func(*yaml.Node) diag.Position, findings *diag.List, keys ...string) {
	for i := 0; n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
		if key := n.Content[i]; !slices.Contains(keys, key.Value) {
			findings.Add(at(key), diag.UnknownKey, fmt.Sprintf("unknown key %s", key.Value), diag.DidYouMean(key.Value, keys, diag.FoldKey))
		}
	}
}

// valueOf returns the value of a key, or the mapping itself if the key is missing.
func valueOf(n *yaml.Node, key string) *yaml.Node {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return n
}

func (r RuleConfig) validate(at diag.Position, findings *diag.List) {
	codes := configurable()
	if !slices.Contains(codes, r.Code) {
		findings.Add(at, diag.BadValue, fmt.Sprintf("unknown rule %q", r.Code), diag.DidYouMean(r.Code, codes, diag.FoldKey))
	}
	if !slices.Contains([]string{"error", "warning", "off"}, r.Severity) {
		findings.Add(at, diag.BadValue, fmt.Sprintf("unknown severity %q", r.Severity), "use error, warning or off")
	}
	if strings.TrimSpace(r.Reason) == "" {
		findings.Add(at, diag.MissingKey, "missing reason", "add reason: why you accept these findings")
	}
	for _, pattern := range r.Files {
		validPattern(pattern, "files", at, findings)
	}
}

func validPattern(pattern, key string, at diag.Position, findings *diag.List) {
	if _, err := path.Match(strings.TrimSuffix(pattern, "/**"), ""); err != nil {
		findings.Add(at, diag.BadValue, fmt.Sprintf("%s: invalid pattern %q", key, pattern), "")
	}
}

func version(text string) (Version, error) {
	if text == "" {
		return Version{}, nil
	}
	major, minor, _ := strings.Cut(strings.TrimPrefix(text, "v"), ".")
	minor, _, _ = strings.Cut(minor, ".")
	a, err1 := strconv.Atoi(major)
	b, err2 := strconv.Atoi(minor)
	if err1 != nil || err2 != nil || a < 3 {
		return Version{}, fmt.Errorf("invalid version of Argo Workflows: %q", text)
	}
	return Version{Major: a, Minor: b}, nil
}

func (c *Config) targets() Targets {
	if c == nil {
		return Targets{}
	}
	v, _ := version(c.Targets.ArgoWorkflows) // validated by ReadConfig
	return Targets{Workflows: v}
}

// profile returns which rules apply. A rule with a severity applies in each profile.
func (c *Config) profile() Profile {
	out := Profile{Targets: c.targets()}
	if c == nil {
		return out
	}
	out.Strict = c.Profile == strict
	for _, r := range c.Rules {
		if r.Severity != "off" {
			out.Further = append(out.Further, r.Code)
		}
	}
	return out
}

// Stricter returns a configuration with the profile strict.
func (c *Config) Stricter() *Config {
	out := &Config{}
	if c != nil {
		*out = *c
	}
	out.Profile = strict
	return out
}

// apply sets the configured severities and drops the findings of disabled rules.
func (c *Config) apply(findings []located) []located {
	if c == nil {
		return findings
	}
	var out []located
	for _, f := range findings {
		i := slices.IndexFunc(c.Rules, func(r RuleConfig) bool {
			return r.Code == f.Code && r.inFile(path.Join(c.Base, f.File)) && r.matches(f.in)
		})
		switch {
		case i < 0:
		case c.Rules[i].Severity == "off":
			continue
		default:
			f.Severity = diag.Severity(c.Rules[i].Severity)
		}
		out = append(out, f)
	}
	return out
}

// configurable returns the codes of findings in manifests: those of rules, and of their text.
func configurable() []string {
	out := []string{diag.YAMLSyntax, diag.DuplicateKey, diag.WrongType, diag.YAMLAlias, diag.InvalidUTF8, diag.BadExpression, diag.BadValue}
	for _, rule := range Rules() {
		out = append(out, rule.Code)
	}
	return out
}

// applied is apply for findings about the text of files.
func (c *Config) applied(findings diag.List) diag.List {
	var all []located
	for _, f := range findings {
		all = append(all, located{Finding: f, in: &subject{}})
	}
	var out diag.List
	for _, f := range c.apply(all) {
		out = append(out, f.Finding)
	}
	return out
}

func (c *Config) excludes(name string) bool {
	return c != nil && len(c.Exclude) > 0 && matches(c.Exclude, path.Join(c.Base, name))
}

func (r RuleConfig) inFile(name string) bool { return len(r.Files) == 0 || matches(r.Files, name) }

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		if dir, all := strings.CutSuffix(pattern, "/**"); all {
			return strings.HasPrefix(name, dir+"/")
		}
		fits, err := path.Match(pattern, name)
		return fits && err == nil
	})
}

// matches reports whether a rule is configured for an object.
func (r RuleConfig) matches(s *subject) bool {
	return len(r.Objects) == 0 || slices.Contains(r.Objects, s.kind+"/"+s.name)
}
