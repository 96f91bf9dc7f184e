package shortschema

import (
	"strings"
	"testing"

	"github.com/robfig/cron/v3"
)

// TestCron compares the pattern of the type with the parser that a CronJob uses.
func TestCron(t *testing.T) {
	schedules := []string{
		// accepted
		"* * * * *", "*/5 8 * * 1", "0 2 * * 1-5", "0 2 * * MON", "0 2 * * mon-Fri", "0 0-6/2 * * *", "0 2 ? * *", "0 2 * * ?",
		"0 0 1 1 0", "1,2,*/3 * * * *", "59 23 31 12 6", "00 02 01 01 00", "0/15 * * * *", "5-59/10 * * * *", "*/90 * * * *", "*/05 * * * *",
		"0 0 * JAN *", "0 0 * jan-DEC/3 *", "0 0 * 1,JUN,10-12 *", "0 0 1-7,15-21 * *", "0 0 * * SUN,2,THU-SAT", "0  0   * * *", "?/2 ? ? ? ?",
		"0 9-17 * * MON-FRI", "0,30 9-17/2,20 1,15 */2 1-5", "0 1-1 * * *",
		"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly",
		"@every 1h", "@every 1h30m", "@every 1.5h", "@every 90s", "@every 500ms", "@every 10us", "@every 10ns",
		// rejected
		"", "every day", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * 32 * *", "* * * 0 *", "* * * 13 *", "* * * * 7", "* * * * 1-7",
		"* * * * 8", "-1 * * * *", "1- * * * *", "-5 * * * *", "1-2-3 * * * *", "1--2 * * * *", "*/0 * * * *", "*/ * * * *", "*/5/5 * * * *", "*/-5 * * * *", "*/x * * * *",
		"5* * * * *", "*5 * * * *", "** * * * *", "1?  * * * *", "100 * * * *", "1.5 * * * *", "1;2 * * * *", "JAN * * * *", "* MON * * *", "* * * MON *", "* * * * JAN",
		"* * * FOO *", "* * * * MONDAY", "* * * * MON-", "* * * JANFEB *", "* * L * *", "* * 15W * *", "* * * * 5L", "* * * * 5#3", "H * * * *",
		"@never", "@Daily", "@daily ", "@reboot", "@every", "@every ", "@every 1", "@every 1d", "@every 1h ", "@every h", "@every 1h30", "@ every 1h", "@every hour", "daily",
	}
	typ := typeNamed("cron", false)
	for _, s := range schedules {
		_, rejected := cron.ParseStandard(s)
		if problem := Conform(typ, s); (problem == "") != (rejected == nil) {
			t.Errorf("%q: the type says %q, the parser %v", s, problem, rejected)
		}
	}
}

// TestCronFields compares each field with every value and range of the parser.
func TestCronFields(t *testing.T) {
	values := strings.Fields("* ? 0 1 6 7 00 05 12 13 23 24 31 32 59 60 99 jan Dec SUN sat x")
	typ := typeNamed("cron", false)
	for position := range 5 {
		for _, from := range values {
			for _, tail := range append([]string{"", "/2", "/0", "-", ",", "/"}, ranges(values)...) {
				fields := strings.Fields("* * * * *")
				fields[position] = from + tail
				s := strings.Join(fields, " ")
				_, err := cron.ParseStandard(s)
				if problem := Conform(typ, s); (problem == "") != (err == nil) && !beyond(s, err) {
					t.Errorf("%q: the type says %q, the parser %v", s, problem, err)
				}
			}
		}
	}
}

func ranges(values []string) []string {
	out := make([]string, 0, len(values))
	for _, v := range values {
		out = append(out, "-"+v)
	}
	return out
}

// beyond reports whether the pattern differs from the parser on purpose: the pattern does
// not compare the ends of a range, and rejects the empty values and ends that the parser
// ignores.
func beyond(schedule string, err error) bool {
	if err != nil {
		return strings.Contains(err.Error(), "beyond end of range")
	}
	return strings.Contains(schedule, "*-") || strings.Contains(schedule, "?-") || strings.Contains(schedule+" ", ", ")
}
