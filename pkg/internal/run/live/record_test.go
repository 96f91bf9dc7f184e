package live

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// told collects summaries as lines.
func told(lines *[]string) func(Summary) {
	return func(s Summary) {
		*lines = append(*lines, fmt.Sprintf("%d of %d: %s %s", s.ID, s.Cause, s.Title, s.State))
	}
}

func recordOf(cause int, typ Type, state State, title string) Record {
	return Record{Summary: Summary{Cause: cause, Type: typ, State: state, Title: title}}
}

func TestRecords(t *testing.T) {
	var lines []string
	r := newRecords(told(&lines))
	event := recordOf(0, TypeEvent, StateDone, "ADD")
	event.Input = "the event"
	id := r.add(event)
	delivery := r.add(recordOf(id, TypeDelivery, StateRunning, "child"))
	r.update(id, true, func(one *Record) { one.Skipped++ })
	done := recordOf(id, TypeDelivery, StateDone, "child")
	done.Output = "a request"
	r.replace(delivery, done)
	r.replace(99, done) // forgotten meanwhile

	want := []string{"1 of 0: ADD done", "2 of 1: child running", "2 of 1: child done"}
	if d := cmp.Diff(want, lines); d != "" {
		t.Errorf("told (-want +got):\n%s", d)
	}
	got, ok := r.get(delivery)
	if !ok || got.Input != "the event" || got.Output != "a request" || got.Calls == nil || got.Nodes == nil {
		t.Errorf("the delivery: %v %+v", ok, got)
	}
	if _, ok := r.get(99); ok {
		t.Error("an unknown record is found")
	}
	summaries := r.summaries()
	if d := cmp.Diff([]int{1, 2}, []int{summaries[0].ID, summaries[1].ID}); d != "" || summaries[0].Skipped != 1 {
		t.Errorf("summaries: %+v", summaries)
	}
}

// TestOldRecords adds more than is kept: an event goes together with its deliveries.
func TestOldRecords(t *testing.T) {
	r := newRecords(func(Summary) {})
	for range kept + 10 {
		id := r.add(recordOf(0, TypeEvent, StateDone, "ADD"))
		r.add(recordOf(id, TypeDelivery, StateDone, "child"))
	}
	if n := len(r.summaries()); n != 2*kept {
		t.Errorf("%d records are kept, want %d", n, 2*kept)
	}
	if len(r.caused) != kept || len(r.order) != kept {
		t.Errorf("%d events with deliveries and %d in order, want %d", len(r.caused), len(r.order), kept)
	}
	for id, want := range map[int]bool{1: false, 2: false, 20: false, 21: true, 22: true} {
		if _, ok := r.get(id); ok != want {
			t.Errorf("record %d is kept: %v, want %v", id, ok, want)
		}
	}
	late := r.add(recordOf(1, TypeDelivery, StateDone, "of an event that is forgotten"))
	for range kept {
		r.add(recordOf(0, TypeEvent, StateDone, "ADD"))
	}
	if _, ok := r.get(late); ok {
		t.Error("a record of a forgotten event is never forgotten")
	}
}

func TestJSONOfRecords(t *testing.T) {
	one := recordOf(3, TypeDelivery, StateDone, "child")
	one.ID, one.Duration, one.Object = 4, Milliseconds(1234*time.Microsecond), Object{"Web", "default", "a", "uid"}
	one.Attempts = []Attempt{{Trigger: "child", Calls: []Call{{CallSummary: CallSummary{Method: "PATCH", Status: 201}, Body: map[string]any{"a": 1}}}}}
	one.complete()
	data, err := json.Marshal(one)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"id": 4.0, "cause": 3.0, "duration": 1.234, "type": "delivery", "state": "done", "title": "child", "text": "", "operator": "",
		"kind": "Web", "namespace": "default", "name": "a", "uid": "uid", "nodes": []any{}, "calls": []any{}, "skipped": 0.0,
		"root": 0.0, "by": "",
		"attempts": []any{map[string]any{"trigger": "child", "failure": "", "note": "", "calls": []any{map[string]any{
			"method": "PATCH", "what": "", "status": 201.0, "duration": 0.0, "path": "", "contentType": "", "account": "", "body": map[string]any{"a": 1.0}, "answer": nil,
		}}}},
	}
	if d := cmp.Diff(want, got, cmpopts.IgnoreMapEntries(func(key string, _ any) bool { return key == "time" })); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// written is a request that makes a state of an object.
func written(uid, version string) Attempt {
	return Attempt{Calls: []Call{{CallSummary: CallSummary{Method: "PATCH", Status: 200}, Answer: map[string]any{
		"metadata": map[string]any{"uid": uid, "resourceVersion": version},
	}}}}
}

// TestRoots follows what a change leads to.
func TestRoots(t *testing.T) {
	event := func(state string) Record {
		one := recordOf(0, TypeEvent, StateDone, "UPDATE")
		one.state = state
		return one
	}
	delivery := func(cause int, attempts ...Attempt) Record {
		one := recordOf(cause, TypeDelivery, StateDone, "child")
		one.Attempts = attempts
		return one
	}
	roots := func(r *records) map[int]int {
		out := map[int]int{}
		for _, s := range r.summaries() {
			if s.Root != 0 {
				out[s.ID] = s.Root
			}
		}
		return out
	}
	for _, tt := range []struct {
		name string
		play func(r *records)
		want map[int]int
	}{
		{"the event of a request", func(r *records) {
			first := r.add(event("a 1"))
			r.add(delivery(first, written("b", "2")))
			r.add(event("b 2"))
		}, map[int]int{3: 1}},
		{"an event before the answer of its request", func(r *records) {
			first := r.add(event("a 1"))
			id := r.add(recordOf(first, TypeDelivery, StateRunning, "child"))
			r.add(event("b 2"))
			r.replace(id, delivery(first, written("b", "2")))
		}, map[int]int{3: 1}},
		{"what that event led to comes along", func(r *records) {
			first := r.add(event("a 1"))
			id := r.add(recordOf(first, TypeDelivery, StateRunning, "child"))
			second := r.add(event("b 2"))
			r.add(delivery(second, written("a", "3")))
			r.add(event("a 3"))
			r.replace(id, delivery(first, written("b", "2")))
		}, map[int]int{3: 1, 5: 1}},
		{"a request that changed nothing", func(r *records) {
			r.add(event("b 1")) // of a controller
			second := r.add(event("a 2"))
			r.add(delivery(second, written("b", "1")))
		}, map[int]int{}},
		{"a change of somebody else", func(r *records) {
			first := r.add(event("a 1"))
			r.add(delivery(first, written("b", "2")))
			r.add(event("b 3"))
		}, map[int]int{}},
		{"a Workflow that a trigger created", func(r *records) {
			first := r.add(event("a 1"))
			r.add(delivery(first, written("w", "2")))
			run := recordOf(0, TypeWorkflow, StateRunning, "reconcile")
			run.state = "w 2"
			id := r.add(run)
			done := recordOf(0, TypeWorkflow, StateDone, "reconcile")
			done.Containers = []Container{{Calls: written("b", "3").Calls}}
			r.replace(id, done)
			r.add(event("b 3"))
		}, map[int]int{3: 1, 4: 1}},
		{"the run of a worker", func(r *records) {
			first := event("a 1")
			first.key = "default.a"
			r.add(first)
			shown := event("a 2") // what the run writes is seen before it ends
			shown.key = "default.a"
			r.add(shown)
			run := recordOf(0, TypeWorkflow, StateDone, "reconcile")
			run.key, run.Containers = "default.a", []Container{{Calls: written("a", "2").Calls}}
			r.add(run)
		}, map[int]int{2: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRecords(func(Summary) {})
			tt.play(r)
			if d := cmp.Diff(tt.want, roots(r)); d != "" {
				t.Errorf("roots (-want +got):\n%s", d)
			}
		})
	}
}
