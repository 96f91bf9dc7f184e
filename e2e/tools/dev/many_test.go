package dev

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// Limits of TestMany.
const (
	many      = 1000            // custom resources
	answering = 2 * time.Second // from a click to what it shows
)

// measure notes how long the page draws nothing, and its tasks of more than 50 ms.
const measure = `(() => {
  window.pauses = [];
  window.longTasks = [];
  let last = performance.now();
  const frame = (now) => { window.pauses.push(now - last); last = now; requestAnimationFrame(frame); };
  requestAnimationFrame(frame);
  new PerformanceObserver((list) => window.longTasks.push(...list.getEntries().map((e) => e.duration))).observe({type: 'longtask'});
  return true;
})()`

// TestMany creates many custom resources at once. The page must answer meanwhile.
func TestMany(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes")
	}
	s := start(t, "-f", memcached)
	s.kubectlIn(resource("first", "{size: 1}")+"---\n"+resource("second", "{size: 1}"), "create", "-f", "-")
	s.ready("memcached/first")
	s.ready("memcached/second")
	p := newBrowser(t).open(s.url)
	p.sees(object("Memcached", "second") + ".ready-True")
	value[bool](p, measure)

	var objects strings.Builder
	for i := range many {
		objects.WriteString("---\n" + resource(fmt.Sprintf("z%04d", i), "{size: 0}"))
	}
	begin := time.Now()
	created := make(chan string, 1)
	go func() {
		out, err := s.tryFor(10*time.Minute, objects.String(), "create", "-f", "-")
		created <- fmt.Sprintf("%v %d", err, strings.Count(out, " created\n"))
	}()
	var answers []time.Duration
	click := func() {
		for _, name := range []string{"first", "second"} {
			start := time.Now()
			p.click(object("Memcached", name))
			p.sees("[data-test=details] h2", name+" ready")
			answers = append(answers, time.Since(start))
		}
	}
	for result := ""; result == ""; click() {
		select {
		case result = <-created:
			if want := fmt.Sprintf("<nil> %d", many); result != want {
				t.Fatalf("kubectl create: %s, want %s", result, want)
			}
		default:
		}
	}
	t.Logf("%d custom resources created after %.1f s", many, time.Since(begin).Seconds())
	all := fmt.Sprintf("%d custom resources", many+2)
	all = all[:1] + "," + all[1:]
	isReady := func() bool {
		return value[bool](p, `all("[data-test=objects-count]", %s).length > 0 && all("[data-test=objects-not-ready]")[0].textContent === "Not ready" && all("[data-test=pending]", "Idle").length > 0`, all)
	}
	for limit := time.Now().Add(10 * time.Minute); !isReady(); click() {
		if time.Now().After(limit) {
			t.Fatal("they are not ready")
		}
	}
	t.Logf("all are ready after %.1f s", time.Since(begin).Seconds())

	slices.Sort(answers)
	t.Logf("%d clicks were answered: median %v, slowest %v", len(answers), answers[len(answers)/2].Round(time.Millisecond), answers[len(answers)-1].Round(time.Millisecond))
	for _, name := range []string{"pauses", "longTasks"} {
		values := value[[]float64](p, "window."+name+".sort((a, b) => a - b)")
		if len(values) > 0 {
			t.Logf("%d %s: median %.0f ms, 99%% %.0f ms, longest %.0f ms", len(values), name, values[len(values)/2], values[len(values)*99/100], values[len(values)-1])
		}
	}
	t.Logf("%.0f MB of JavaScript", value[float64](p, "performance.memory.usedJSHeapSize / 1e6"))
	if slowest := answers[len(answers)-1]; slowest > answering {
		t.Errorf("a click was answered after %v, want %v at most", slowest, answering)
	}
}
