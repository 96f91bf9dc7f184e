package builtin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/argoperator/argoperator/pkg/internal/testing/need"
)

// evaluate prints, for each line with a schedule, a time zone and a time, the last and the
// next time as a worker computes them, or null if it does not accept the schedule.
const evaluate = `
import json, sys
sys.path.insert(0, "../../../../templates/runtime")
from schedules import Schedule
for line in sys.stdin:
    text, zone, now = json.loads(line)
    try:
        times = Schedule(text, zone)
        print(json.dumps([times.last(now), times.next(now)]))
    except ValueError:
        print("null")
`

type question struct {
	schedule, zone string
	now            time.Time
}

// TestTimes compares the times of a worker with those of a CronJob, whose library it is: of
// drawn schedules at drawn times, and around the changes of clocks. The library skips times in
// Australia/Lord_Howe, whose clocks change by half an hour.
func TestTimes(t *testing.T) {
	need.Program(t, "python3")
	random := rand.New(rand.NewPCG(3, 4))
	var asked []question
	zones := []string{"UTC", "Europe/Berlin", "America/New_York", "Antarctica/Troll", "Asia/Kathmandu"}
	for range 1500 {
		zone := zones[random.IntN(len(zones))]
		now := time.Unix(1_700_000_000+random.Int64N(200_000_000), 0)
		if random.IntN(3) == 0 {
			now = time.Date(2026, 3, 28+random.IntN(2), random.IntN(24), random.IntN(60), 0, 0, time.UTC)
		} else if random.IntN(3) == 0 {
			now = time.Date(2026, 10, 24+random.IntN(3), random.IntN(24), random.IntN(60), 0, 0, time.UTC)
		}
		asked = append(asked, question{drawn(random), zone, now})
	}
	for _, text := range []string{
		"@hourly", "@daily", "@weekly", "@monthly", "@yearly", "@Daily", "@every 1h", "", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *",
		"* * * 13 *", "* * * * 7", "* * * jan sun", "* * * FEB-Apr MON,wed", "*/0 * * * *", "5-1 * * * *", "1-2-3 * * * *", "1/2/3 * * * *",
		",1 * * * *", "+5 * * * *", "-5 * * * *", "? ? ? ? ?", "*-5 * * * *", "5/20 * * * *", "5-50/20 * * * *", "* * */2 * 1", "a * * * *",
	} {
		asked = append(asked, question{text, "UTC", time.Unix(1_800_000_000, 0)})
	}
	var in bytes.Buffer
	for _, q := range asked {
		if err := json.NewEncoder(&in).Encode([]any{q.schedule, q.zone, q.now.Unix()}); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("python3", "-c", evaluate)
	cmd.Stdin = &in
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	answers, accepted := strings.Split(strings.TrimSpace(string(out)), "\n"), 0
	for i, q := range asked {
		var got []*int64
		if err := json.Unmarshal([]byte(answers[i]), &got); err != nil {
			t.Fatal(err)
		}
		if problem := compare(q, got); problem != "" {
			t.Errorf("%q in %s at %s: %s", q.schedule, q.zone, q.now.UTC(), problem)
		}
		if got != nil {
			accepted++
		}
	}
	if accepted < 1000 {
		t.Errorf("only %d schedules are valid", accepted)
	}
}

// compare returns how the last and the next time differ from those of a CronJob.
func compare(q question, got []*int64) string {
	zone, err := time.LoadLocation(q.zone)
	if err != nil {
		return err.Error()
	}
	times, err := cron.ParseStandard(q.schedule)
	if every := strings.HasPrefix(q.schedule, "@every"); err != nil || every {
		if got != nil {
			return fmt.Sprintf("the worker accepts what a CronJob does not: %v", err)
		}
		return ""
	}
	if got == nil {
		return "the worker does not accept what a CronJob does"
	}
	next := times.Next(q.now.In(zone))
	if next.IsZero() {
		if got[1] != nil {
			return "the worker knows a time"
		}
		return ""
	}
	if got[0] == nil || got[1] == nil {
		return "the worker knows no time"
	}
	if *got[1] != next.Unix() {
		return fmt.Sprintf("next is %s, want %s", time.Unix(*got[1], 0).UTC(), next.UTC())
	}
	last := time.Unix(*got[0], 0).In(zone)
	if last.After(q.now) || !times.Next(last.Add(-time.Second)).Equal(last) || !times.Next(last).After(q.now) {
		return fmt.Sprintf("last is %s, before which the next is %s, and after it %s", last.UTC(), times.Next(last.Add(-time.Second)).UTC(), times.Next(last).UTC())
	}
	return ""
}

// drawn returns a schedule, which need not be valid.
func drawn(random *rand.Rand) string {
	var fields []string
	for _, limits := range [][2]int{{0, 59}, {0, 23}, {1, 31}, {1, 12}, {0, 6}} {
		number := func() int { return limits[0] + random.IntN(limits[1]-limits[0]+1) }
		switch random.IntN(8) {
		case 0:
			fields = append(fields, fmt.Sprintf("*/%d", 1+random.IntN(7)))
		case 1:
			fields = append(fields, fmt.Sprintf("%d-%d", number(), number()))
		case 2:
			fields = append(fields, fmt.Sprintf("%d,%d", number(), number()))
		case 3, 4:
			fields = append(fields, fmt.Sprint(number()))
		default:
			fields = append(fields, "*")
		}
	}
	return strings.Join(fields, " ")
}
