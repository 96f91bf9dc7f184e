package expression

import (
	"slices"
	"strings"

	"github.com/itchyny/gojq"
)

// ownFunction is the name of a function and its definition.
type ownFunction struct{ name, jq string }

// ownFunctions are functions that jq does not have, in an order in which each uses only
// those before it. The Sensor and the pod run the same definitions, except where the
// pod has its own.
var ownFunctions = []ownFunction{
	// 16 digits, the hash of the JSON of the input: two sums, each below 2^32, so that
	// every step is an integer that a Sensor represents exactly.
	{
		fingerprint,
		`def fingerprint: reduce (tojson | explode[]) as $c ([5381, 52711]; [(.[0] * 33 + $c) % 4294967296,` +
			` (.[1] * 65599 + $c) % 4294967296])` +
			` | [.[] as $n | (268435456, 16777216, 1048576, 65536, 4096, 256, 16, 1) as $p | ($n / $p | floor) % 16` +
			` | if . < 10 then . + 48 else . + 87 end] | implode;`,
	},
	// The number that an amount of resources stands for: 100m is 0.1, 1Ki is 1024.
	{"quantity", `def quantity: if type == "number" then . else . as $text | first((` +
		`["Ki", 1024, 1], ["Mi", 1048576, 1], ["Gi", 1073741824, 1], ["Ti", 1099511627776, 1], ["Pi", 1125899906842624, 1],` +
		` ["Ei", 1152921504606846976, 1],` +
		` ["n", 1, 1000000000], ["u", 1, 1000000], ["m", 1, 1000], ["k", 1000, 1], ["M", 1000000, 1], ["G", 1000000000, 1],` +
		` ["T", 1000000000000, 1],` +
		` ["P", 1000000000000000, 1], ["E", 1000000000000000000, 1], ["", 1, 1]) as $unit | select($text | endswith($unit[0]))` +
		` | ($text | rtrimstr($unit[0]) | tonumber) * $unit[1] / $unit[2]) end;`},
	// A list that compares as the version does.
	{
		"semver",
		`def semver: ltrimstr("v") | (split("+") | .[0]) | split("-") | (.[0] | split(".") | map(tonumber)) as $core | (.[1:]` +
			` | join("-")) as $early` +
			` | [$core[0], ($core[1] // 0), ($core[2] // 0), $early == "", ($early | split(".") | map(. as $part` +
			` | try tonumber catch $part))];`,
	},
	{"_address", `def _address: split(".") | map(tonumber) | ((.[0] * 256 + .[1]) * 256 + .[2]) * 256 + .[3];`},
	{"_dotted", `def _dotted: . as $n | [16777216, 65536, 256, 1] | map(($n / . | floor) % 256 | tostring) | join(".");`},
	{"_hosts", `def _hosts: reduce range(32 - .) as $bit (1; . * 2);`},
	// The address of a number in a range of IPv4 addresses, and a part of such a range,
	// as in Terraform.
	{"cidrhost", `def cidrhost($number): split("/") as $range | ($range[1] | tonumber | _hosts) as $size` +
		` | if $number < 0 or $number >= $size then error("\($number) is not in \(.)") else (($range[0] | _address) / $size` +
		` | floor) * $size + $number | _dotted end;`},
	{
		"cidrsubnet",
		`def cidrsubnet($bits; $number): split("/") as $range | (($range[1] | tonumber) + $bits) as $length | ($range[1] | tonumber` +
			` | _hosts) as $size` +
			` | if $length > 32 or $number < 0 or $number * ($length | _hosts) >= $size then error("there is no part \($number) of ` +
			`\($bits) bits in \(.)")` +
			` else "\((($range[0] | _address) / $size | floor) * $size + $number * ($length | _hosts) | _dotted)/\($length)" end;`,
	},
}

// withFunctions puts the definitions of the functions that an expression calls before
// it. It returns false if there are none.
func withFunctions(source string, query *gojq.Query) (string, bool) {
	words := strings.FieldsFunc(query.String(), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_'
	})
	var defs string
	for _, f := range slices.Backward(ownFunctions) {
		if slices.Contains(words, f.name) || strings.Contains(defs, f.name) {
			defs = f.jq + defs
		}
	}
	return defs + source, defs != ""
}
