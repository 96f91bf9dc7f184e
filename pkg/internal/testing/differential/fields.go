package differential

import "strings"

// kind is a type of fields of custom resources, with what expressions make of them. In
// the expressions, $f is the path of the field.
type kind struct {
	name  string
	short any      // the type in the short form of schemas
	texts []string // expressions that yield a string
	lists []string // expressions that yield a list of names, each once; nil: none
	truth []string // conditions
}

// kinds are the types of fields, one of each family of the short form.
var kinds = []kind{
	{
		name: "default", short: "string | default=none maxLength=20",
		texts: []string{
			`$f`, `"x-\($f)"`, `$f | ascii_upcase`, `$f[:3]`, `$f | split("o") | join("+")`, `$f | @base64`, `$f | fingerprint`,
			`$f | length | tostring`,
			`[$f, "b"] | sort | join(",")`, `{a: $f} | tojson`, `$f | ltrimstr("n")`, `$f | explode | map(tostring) | join(".")`,
			`$f | gsub("[aeiou]"; "*")`, `[$f | scan("\\w")] | join(".")`, `$f | [match("(?<x>n)|."; "gi") | .captures[0].string] | tojson`,
			`$f | gsub("(?<first>\\b.)"; .first | ascii_upcase) | sub("$"; "!")`,
		},
		truth: []string{`$f != "none"`, `$f | startswith("n")`, `$f | length > 3`, `$f | test("^N"; "i")`},
	},
	{
		name: "string", short: "string | maxLength=20",
		texts: []string{
			`$f`, `$f // "none"`, `"x-\($f // "none")"`, `if $f == null then "unset" else $f end`, `$f // "a" | ascii_downcase`,
			`[$f, "b"] | map(. // "-") | join(",")`,
			`$f?`, `($f // "none") as $x | $x + $x`, `try ($f | ascii_upcase) catch "failed"`,
			`try ($f | sub("a*?$"; "z")) catch "failed"`, `$f // "a.b" | split("[.-]"; null) | join("/")`,
		},
		truth: []string{`$f != null`, `$f == "a"`, `($f // "") | length > 0`, `$f // "" | test("^(a|)$")`},
	},
	{
		name: "required", short: "name | required=true",
		texts: []string{
			`$f`, `$f + "-x"`, `$f | rtrimstr("a")`, `"\($f)/\($f | length)"`, `$f | capture("^(?<head>[a-z]+)?").head // "none"`,
		},
		lists: []string{`[$f]`, `[$f, $f] | unique`, `[$f | splits("-+")] | map(select(. != "")) | unique`},
		truth: []string{`$f == "a"`, `$f | endswith("a")`, `$f | test("[b-m]")`},
	},
	{
		name: "enum", short: `string | enum="red,green,blue" default=red`,
		texts: []string{
			`$f`, `if $f == "red" then "r" elif $f == "green" then "g" else "b" end`, `{red: "1", green: "2", blue: "3"}[$f]`,
			`if $f == "blue" then error("no blue") else $f end`,
		},
		lists: []string{`if $f == "red" then ["a", "b"] else ["b"] end`},
		truth: []string{`$f == "red"`, `$f | IN("red", "blue")`, `$f != "green"`},
	},
	{
		name: "integer", short: "integer | default=1 minimum=0 maximum=4",
		texts: []string{
			`$f | tostring`, `$f * 2 + 1 | tostring`, `"\($f)"`, `[range($f)] | map(tostring) | join(",")`,
			`if $f > 2 then "many" else "few" end`, `$f / 2 | floor | tostring`,
			`reduce range($f) as $i (""; . + "x")`, `[limit(2; range($f))] | length | tostring`,
		},
		lists: []string{`[range($f)] | map("n\(.)")`, `["a", "b", "c", "d"][:$f]`},
		truth: []string{`$f > 1`, `$f >= 1 and $f < 4`, `$f % 2 == 0`},
	},
	{
		name: "boolean", short: "boolean | default=false",
		texts: []string{`$f | tostring`, `if $f then "on" else "off" end`, `$f | not | tostring`},
		lists: []string{`if $f then ["a", "b"] else [] end`},
		truth: []string{`$f`, `$f | not`},
	},
	{
		name: "optional-boolean", short: "boolean",
		texts: []string{`$f != false | tostring`, `if $f then "on" else "off" end`},
		truth: []string{`$f == true`, `$f != false`},
	},
	{
		name: "quantity", short: `quantity | default="1Gi"`,
		texts: []string{`$f | tostring`, `$f | quantity | tostring`},
		truth: []string{`($f | quantity) > 1000`},
	},
	{
		name: "names", short: "[]name | default=[] maxItems=3",
		texts: []string{
			`$f | join(",")`, `$f | length | tostring`, `$f | map(. + "!") | join(" ")`,
			`$f | sort | reverse | first // "none"`, `[$f[] | select(. != "a")] | tojson`,
		},
		lists: []string{`$f | unique`, `[$f[]] | unique`, `$f | unique | map(select(. != "a"))`, `$f | map(select(test("^[a-m]"))) | unique`},
		truth: []string{`$f | length > 1`, `$f | any(. == "a")`, `$f | index("a") != null`},
	},
	{
		name: "optional-names", short: "[]name | maxItems=3",
		texts: []string{`$f // [] | join(",")`, `[$f[]?] | length | tostring`, `$f // [] | tojson`},
		lists: []string{`$f // [] | unique`, `[$f[]?] | unique`},
		truth: []string{`$f // [] | length > 0`, `$f != null`},
	},
	{
		name: "map", short: "map[string]string | maxProperties=3",
		texts: []string{
			`$f // {} | to_entries | map("\(.key)=\(.value)") | join(",")`, `$f // {} | keys | join(",")`,
			`$f // {} | has("a") | tostring`, `$f // {} | tojson`,
			`$f // {} | to_entries | from_entries | length | tostring`, `[$f // {} | .[]] | sort | join(",")`,
		},
		lists: []string{`if $f == null then [] else ["m"] end`},
		truth: []string{`$f // {} | length > 0`, `$f // {} | has("a")`},
	},
	{
		name: "object", short: map[string]any{
			"class": "name | default=standard", "size": "integer | minimum=1 maximum=9",
			"tags": "[]name | maxItems=2",
		},
		texts: []string{
			`$f.class`, `$f.size // 0 | tostring`, `$f | tojson`, `$f.tags // [] | join(",")`,
			`$f | to_entries | length | tostring`,
		},
		lists: []string{`$f.tags // [] | unique`},
		truth: []string{`$f.size != null`, `$f.class == "standard"`, `($f.size // 1) > 2`},
	},
	{
		name: "items", short: []any{map[string]any{"name": "name | required=true", "value": "string | maxLength=9"}},
		texts: []string{
			`$f // [] | map(.name) | join(",")`, `[$f // [] | .[] | "\(.name)=\(.value // "-")"] | join(",")`,
			`$f // [] | group_by(.name) | length | tostring`,
			`$f // [] | map({(.name): .value}) | add // {} | tojson`, `$f // [] | first | .name // "none"`,
			`$f // [] | max_by(.name) | .name // "none"`,
		},
		lists: []string{`$f // [] | map(.name) | unique`, `[$f[]?.name] | unique`},
		truth: []string{`$f // [] | length > 0`, `$f // [] | all(.value != null)`},
	},
	{
		name: "any", short: "any",
		texts: []string{
			`$f | tojson`, `$f | type`, `if ($f | type) == "string" then $f else "other" end`,
			`[$f] | flatten | length | tostring`,
		},
		truth: []string{`$f != null`, `($f | type) == "array"`},
	},
	{
		name: "open", short: "object",
		texts: []string{`$f // {} | tojson`, `$f // {} | length | tostring`, `$f.a | tostring`},
		truth: []string{`$f != null`},
	},
	{
		name: "number", short: "number | default=1.5 minimum=0 maximum=9",
		texts: []string{`$f | tostring`, `$f * 2 | tostring`, `$f | floor | tostring`},
		truth: []string{`$f > 2`},
	},
	{
		name: "env", short: "[]core/v1.EnvVar",
		texts: []string{`$f // [] | map(.name) | join(",")`, `$f // [] | length | tostring`},
		truth: []string{`$f != null`},
	},
	{
		name: "int-or-string", short: "int-or-string | default=1",
		texts: []string{`$f | tostring`, `$f | type`},
		truth: []string{`$f == 1`},
	},
}

// field is a field of a custom resource.
type field struct {
	kind
	path string
}

// on puts the path of the field into an expression.
func (f field) on(expression string) string { return strings.ReplaceAll(expression, "$f", f.path) }
