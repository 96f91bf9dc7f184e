package expression

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOwnFunctions covers results of the functions that jq does not have. TestPod
// compares those of the pod.
func TestOwnFunctions(t *testing.T) {
	for _, tt := range []struct {
		source string
		want   any
	}{
		{`["100m", "64Mi", "1.5Gi", "2", "1e3", 7, "3k", "0.5", "-1", "5n"] | map(quantity)`, []any{0.1, 67108864.0, 1610612736.0, 2.0, 1000.0, 7.0, 3000.0, 0.5, -1.0, 5e-9}},
		{`("64Mi" | quantity) / 2 | tostring`, "33554432"},
		{`("1Gi" | quantity) > ("900M" | quantity)`, true},
		{`["2", "1.27.3", "v1.27.0", "1.27.3-rc.2", "1.27.3-rc.10", "1.9.0", "1.28.0+x"] | sort_by(semver)`, []any{"1.9.0", "v1.27.0", "1.27.3-rc.2", "1.27.3-rc.10", "1.27.3", "1.28.0+x", "2"}},
		{`("1.27" | semver) == ("v1.27.0" | semver)`, true},
		{`"10.1.2.3/16" | [cidrhost(0), cidrhost(5), cidrhost(65535)]`, []any{"10.1.0.0", "10.1.0.5", "10.1.255.255"}},
		{`"192.168.0.0/16" | [cidrsubnet(2; 0), cidrsubnet(2; 1), cidrsubnet(8; 255)]`, []any{"192.168.0.0/18", "192.168.64.0/18", "192.168.255.0/24"}},
		{`"255.255.255.255/32" | cidrhost(0)`, "255.255.255.255"},
		{`"quantity of semver"`, "quantity of semver"},
	} {
		program, problems := Expression(tt.source, Scope{}, "")
		if program == nil {
			t.Fatalf("%s: %v", tt.source, problems)
		}
		got, err := program.Run(nil, Vars{})
		if diff := cmp.Diff(tt.want, normal(t, got)); diff != "" || err != nil {
			t.Errorf("%s: %v %s", tt.source, err, diff)
		}
	}
	const said = `"10.0.0.0/24" | try cidrhost(256) catch .`
	if program, problems := Expression(said, Scope{}, ""); program == nil {
		t.Errorf("%s: %v", said, problems)
	} else if got, err := program.Run(nil, Vars{}); got != "256 is not in 10.0.0.0/24" {
		t.Errorf("%s: %v %v", said, got, err)
	}
	for _, source := range []string{`"x" | quantity`, `"1.x" | semver`, `-1 as $n | "10.0.0.0/8" | cidrhost($n)`, `"10.0.0.0/24" | cidrhost(256)`, `"10.0.0.0/30" | cidrsubnet(3; 0)`, `256 as $n | "10.0.0.0/8" | cidrsubnet(8; $n)`} {
		program, problems := Expression(source, Scope{}, "")
		if program == nil {
			t.Fatalf("%s: %v", source, problems)
		}
		if got, err := program.Run(nil, Vars{}); err == nil {
			t.Errorf("%s is %v", source, got)
		}
	}
}

// normal returns a value as encoding/json decodes it.
func normal(t *testing.T, value any) any {
	t.Helper()
	data, err := json.Marshal(value)
	var out any
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}
