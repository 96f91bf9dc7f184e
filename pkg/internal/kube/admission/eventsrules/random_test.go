package eventsrules_test

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
)

// TestRandomChanges compares the errors of changed Sensors and EventBuses: one to four
// fields of a valid one have another value.
func TestRandomChanges(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	sensors, _ := examples(t)
	whole := read[eventsv1.Sensor](t, complete)
	errors := map[string]bool{}
	for range 10_000 {
		bus := read[eventsv1.EventBus](t, "spec: "+eventBuses[random.IntN(len(eventBuses))].bus)
		s := whole.DeepCopy()
		if random.IntN(4) == 0 {
			s = sensors[random.IntN(len(sensors))].DeepCopy()
		}
		for range 1 + random.IntN(4) {
			s = s.DeepCopy() // a repeated entry shares its pointers
			change(random, reflect.ValueOf(&s.Spec).Elem())
			change(random, reflect.ValueOf(&bus.Spec).Elem())
		}
		errors[sensorError(t, s, bus)] = true
		errors[busError(t, bus)] = true
		if t.Failed() {
			return
		}
	}
	if len(errors) < 200 {
		t.Errorf("only %d different errors", len(errors))
	}
}

// texts are values of strings: those with a meaning for a rule, and wrong ones.
var texts = []string{
	"", "", "a", "create", "patch", "update", "delete", "submit", "submit-from", "suspend", "retry", "resume", "resubmit", "terminate", "stop",
	"append", "overwrite", "prepend", "and", "or", ">=", ">", "=", "!=", "<", "<=", "GET", "get", "PUT", "PATCH", "DELETE", "HEAD",
	"UTC", "Local", "Europe/Berlin", "../etc", "Mars", "10:00:00", "1:2:3", "10:00:00.5", "25:00:00", "10:00",
	"* * * * *", "*/0 * * * *", "61 * * * *", "@hourly", "TZ=UTC", "CRON_TZ=UTC", "CRON_TZ=UTC 1 2 3 4 5", "TZ=X * * * * *", "* * * * * *", "a-$$$-a",
}

// change gives one place below a value another content.
func change(random *rand.Rand, root reflect.Value) {
	places := placesBelow(root, nil)
	v := places[random.IntN(len(places))]
	if other := places[random.IntN(len(places))]; random.IntN(3) == 0 && other.Type() == v.Type() {
		one, two := reflect.ValueOf(v.Interface()), reflect.ValueOf(other.Interface())
		v.Set(two)
		other.Set(one)
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(texts[random.IntN(len(texts))])
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt([]int64{-1, 0, 1, 2, 3, 65535, 65536}[random.IntN(7)])
	case reflect.Pointer:
		if v.SetZero(); random.IntN(2) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
		}
	case reflect.Slice:
		changeSlice(random, v)
	default:
		v.SetZero()
	}
}

// changeSlice removes the slice, empties it, adds an entry, repeats one or drops one.
func changeSlice(random *rand.Rand, v reflect.Value) {
	n := v.Len()
	switch choice := random.IntN(5); {
	case choice == 0:
		v.SetZero()
	case choice == 1:
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	case choice == 2 || n == 0:
		v.Set(reflect.Append(v, reflect.New(v.Type().Elem()).Elem()))
	case choice == 3:
		v.Set(reflect.Append(v, v.Index(random.IntN(n))))
	default:
		v.Set(v.Slice(0, n-1))
	}
}

// placesBelow lists what can be set below a value.
func placesBelow(v reflect.Value, places []reflect.Value) []reflect.Value {
	if v.CanSet() {
		places = append(places, v)
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			places = placesBelow(v.Elem(), places)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			places = placesBelow(v.Field(i), places)
		}
	case reflect.Slice:
		for i := range v.Len() {
			places = placesBelow(v.Index(i), places)
		}
	}
	return places
}

// FuzzSensor compares the errors of a Sensor and of its EventBus, from JSON.
func FuzzSensor(f *testing.F) {
	sensors, buses := examples(f)
	for i, s := range sensors {
		one, err := json.Marshal(s)
		if err != nil {
			f.Fatal(err)
		}
		two, err := json.Marshal(buses[i%len(buses)])
		if err != nil {
			f.Fatal(err)
		}
		f.Add(one, two)
	}
	f.Fuzz(func(t *testing.T, one, two []byte) {
		s, bus := &eventsv1.Sensor{}, &eventsv1.EventBus{}
		if json.Unmarshal(one, s) != nil || json.Unmarshal(two, bus) != nil {
			return
		}
		sensorError(t, s, bus)
		busError(t, bus)
	})
}
