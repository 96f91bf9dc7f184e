package diag

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGrouped(t *testing.T) {
	at := func(line int) Position { return Position{File: "a.yaml", Line: line, Column: 3} }
	warn := func(p Position, message string) Finding {
		return Finding{Position: p, Severity: Warning, Code: "bad-value", Message: message, Hint: "restrict it"}
	}
	in := func(object string, f Finding) Finding {
		f.Object = object
		return f
	}
	fail := func(p Position, message string) Finding {
		return Finding{Position: p, Severity: Error, Code: "bad-value", Message: message}
	}
	for _, test := range []struct {
		name, reason string
		in, want     List
	}{
		{"nothing", "an empty list stays empty", nil, nil},
		{
			"items of one expression", "one expression makes them all",
			List{fail(at(1), "c[0].x: wrong"), fail(at(1), "c[1].x: wrong"), fail(at(1), "c[2].x: wrong"), fail(at(1), "d: wrong")},
			List{fail(at(1), "c[0].x: wrong (and at 2 more places)"), fail(at(1), "d: wrong")},
		},
		{
			"warnings of several lines", "the cause is the same, and the lines are listed",
			List{warn(at(1), "c[0]: wrong"), warn(at(4), "c[1]: wrong"), warn(at(4), "c[2]: wrong"), warn(at(9), "c[3]: wrong")},
			List{warn(at(1), "c[0]: wrong (and at 3 more places: lines 4, 9)")},
		},
		{
			"errors of several lines", "each must be changed",
			List{fail(at(1), "c[0]: wrong"), fail(at(4), "c[1]: wrong")},
			List{fail(at(1), "c[0]: wrong"), fail(at(4), "c[1]: wrong")},
		},
		{
			"severities and files", "they are never merged",
			List{warn(at(1), "wrong"), fail(at(1), "wrong"), warn(Position{"b.yaml", 1, 3}, "wrong")},
			List{warn(at(1), "wrong"), fail(at(1), "wrong"), warn(Position{"b.yaml", 1, 3}, "wrong")},
		},
		{
			"objects of a stream", "they are listed by name, each once",
			List{in("sensor/a", warn(at(1), "wrong")), in("sensor/a", warn(at(2), "wrong")), in("sensor/b", warn(at(4), "wrong")), in("sensor/b", warn(at(5), "wrong"))},
			List{in("sensor/a", warn(at(1), "wrong (and in 1 more object: sensor/b)"))},
		},
		{
			"places in one object of a stream", "their lines are listed",
			List{in("sensor/a", warn(at(1), "wrong")), in("sensor/a", warn(at(2), "wrong"))},
			List{in("sensor/a", warn(at(1), "wrong (and at 1 more place: line 2)"))},
		},
		{
			"many lines", "the list is cut",
			List{
				warn(at(1), "wrong"), warn(at(2), "wrong"), warn(at(3), "wrong"), warn(at(4), "wrong"), warn(at(5), "wrong"),
				warn(at(6), "wrong"), warn(at(7), "wrong"), warn(at(8), "wrong"), warn(at(9), "wrong"), warn(at(10), "wrong"),
			},
			List{warn(at(1), "wrong (and at 9 more places: lines 2, 3, 4, 5, 6, 7, 8, 9 …)")},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, test.in.Grouped()); diff != "" {
				t.Errorf("%s: -want +got:\n%s", test.reason, diff)
			}
		})
	}
}

func TestSummary(t *testing.T) {
	warning, failure := Finding{Position: Position{File: "a"}, Severity: Warning}, Finding{Position: Position{File: "b"}, Severity: Error}
	for _, test := range []struct {
		in   List
		want string
	}{
		{nil, ""},
		{List{warning}, "1 warning in 1 file"},
		{List{warning, warning, failure}, "1 error, 2 warnings in 2 files"},
		{List{{Severity: Error}}, "1 error"},
		{List{{Position: Position{File: "-"}, Severity: Error, Object: "sensor/a"}}, "1 error"},
	} {
		if got := test.in.Summary(); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}
