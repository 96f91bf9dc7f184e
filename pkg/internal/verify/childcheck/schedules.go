package childcheck

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/jq/expression"
	"github.com/argoperator/argoperator/pkg/internal/kube/builtin"
	"github.com/argoperator/argoperator/pkg/internal/lang/definition"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// checkSchedules reports constant schedules and time zones that are not those of a CronJob,
// and schedules that no time fits.
func checkSchedules(p *plan.Plan, d *definition.Definition) diag.List {
	var findings diag.List
	constant := func(program *expression.Program) (string, bool) {
		if program == nil {
			return "", false
		}
		value, is := program.Const()
		text, isText := value.(string)
		return text, is && isText
	}
	for _, s := range p.Schedules {
		add := func(key, message, hint string) {
			findings.Add(d.Position(append(slices.Clip(s.At), key)...), diag.BadValue, message, hint)
		}
		invalid := func(key, value string, errs field.ErrorList, hint string) bool {
			if len(errs) > 0 {
				add(key, fmt.Sprintf("%q is not a %s of a CronJob: %s", value, key, errs[0].Detail), hint)
			}
			return len(errs) > 0
		}
		const fields = "the fields are minute, hour, day of the month, month and day of the week, as in 0 20 * * 1-5"
		zone, hasZone := constant(s.Zone)
		if hasZone && invalid("timeZone", zone, builtin.TimeZone(zone, nil), "use a name such as Europe/Berlin") {
			continue
		}
		times, hasTimes := constant(s.Times)
		switch {
		case !hasTimes || invalid("schedule", times, builtin.Schedule(times, nil), fields):
		case strings.HasPrefix(times, "@every"):
			add("schedule", "@every counts from the start of a program, and a schedule is the same for each",
				"write \"*/10 * * * *\" for every ten minutes")
		case len([]rune(times)) > plan.LongestSchedule:
			add("schedule", fmt.Sprintf("a schedule has at most %d characters", plan.LongestSchedule), "write ranges, such as 1-5")
		case builtin.NextTime(times, time.Now()).IsZero():
			add("schedule", fmt.Sprintf("no time fits %q", times), fields)
		}
	}
	return findings
}
