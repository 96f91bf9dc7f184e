package eventsrules_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"github.com/argoproj/argo-events/pkg/reconciler/eventbus"
	"github.com/argoproj/argo-events/pkg/reconciler/sensor"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/argoperator/argoperator/pkg/internal/kube/admission/eventsrules"
)

// complete is a valid Sensor with a value for every rule.
const complete = `
spec:
  dependencies:
  - name: first
    eventSourceName: source
    eventName: event
    filtersLogicalOperator: or
    filters:
      exprLogicalOperator: and
      dataLogicalOperator: or
      exprs: [{expr: a == 1, fields: [{path: body.a, name: a}, {path: body.b, name: b}]}]
      data: [{path: body.a, type: number, value: ["1"], comparator: ">="}, {path: body.b, type: string, value: [x, y]}]
      context: {type: webhook}
      time: {start: "09:00:00", stop: "17:00:00", timezone: Europe/Berlin}
  - {name: second, eventSourceName: source, eventName: other, filters: {time: {start: "22:00:00", stop: "01:00:00"}}}
  triggers:
  - template:
      name: objects
      conditionsReset: [{byTime: {cron: 0 5 * * 1-5, timezone: America/New_York}}, {byTime: {cron: TZ=UTC 0 6 * * *}}]
      k8s: {operation: create, source: {resource: {a: b}}, parameters: &list [{src: {dependencyName: first}, dest: a, operation: append}, {src: {dependencyName: second}, dest: b}]}
      argoWorkflow: {operation: submit, source: {url: {path: p}}, parameters: *list}
    policy: {k8s: {labels: {a: b}}}
    parameters: *list
    atLeastOnce: true
    dlqTrigger:
      atLeastOnce: true
      template: {name: dead, log: {}}
  - template:
      name: calls
      http: {url: http://x, method: POST, parameters: *list, payload: [{src: {dependencyName: first}, operation: prepend}]}
      awsLambda: {functionName: f, region: r, parameters: *list, payload: *list}
      kafka: {url: k, topic: t, payload: *list}
      nats: {url: n, subject: s, payload: *list}
      slack: {slackToken: {name: a, key: b}, parameters: *list}
      openWhisk: {host: h, actionName: a, authToken: {name: a, key: b}, parameters: *list, payload: *list}
      custom: {serverURL: u, secure: true, certSecret: {name: a, key: b}, spec: {a: b}, parameters: *list}
      email: {host: mail, port: 25, parameters: *list}
    policy: {status: {allow: [200]}}
`

// mistakes are edits of the complete Sensor, each with a part of its error.
var mistakes = []struct{ old, new, want string }{
	{`(?s)dependencies:.*  triggers:`, `triggers:`, "no event dependencies found"},
	{`- name: first`, `- name: ""`, "event dependency must define a name"},
	{`eventSourceName: source`, `eventSourceName: ""`, "define the EventSourceName"},
	{`eventName: event`, `eventName: ""`, "define the EventName"},
	{`filtersLogicalOperator: or`, `filtersLogicalOperator: xor`, "logical operator xor not supported"},
	{`exprLogicalOperator: and`, `exprLogicalOperator: either`, "logical operator either not supported"},
	{`dataLogicalOperator: or`, `dataLogicalOperator: nor`, "logical operator nor not supported"},
	{`expr: a == 1`, `expr: ""`, "expr and fields must be not empty"},
	{`fields: \[.*b}]`, `fields: []`, "expr and fields must be not empty"},
	{`{path: body.b, name: b}`, `{path: body.b}`, "path and name in a field must be not empty"},
	{`{path: body.b, name: b}`, `{name: b}`, "path and name in a field must be not empty"},
	{`">="`, `"=>"`, "comparator => not supported"},
	{`path: body.a, type: number`, `type: number`, "type, path and value must be not empty"},
	{`path: body.a, type: number`, `path: body.a`, "type, path and value must be not empty"},
	{`value: \["1"]`, `value: []`, "type, path and value must be not empty"},
	{`value: \[x, y]`, `value: [x, ""]`, "(value must be not empty)"},
	{`context: {type: webhook}`, `context: {id: a}`, "no fields specified in ctx filter"},
	{`Europe/Berlin`, `Europe/Atlantis`, "invalid timezone 'Europe/Atlantis': unknown time zone"},
	{`start: "09:00:00"`, `start: "9 am"`, "parsing time"},
	{`stop: "17:00:00"`, `stop: ""`, "parsing time"},
	{`start: "22:00:00"`, `start: "24:00:00"`, "hour out of range"},
	{`stop: "01:00:00"`, `stop: "22:00:00"`, "stop '22:00:00' is equal to start '22:00:00"},

	{`(?s)triggers:.*`, `triggers: []`, "no triggers found"},
	{`name: calls`, `name: objects`, "duplicate trigger name: objects"},
	{`(?s)- template:\n      name: calls.*    policy`, `- policy`, "trigger template can't be nil"},
	{`name: objects`, `name: ""`, "trigger must define a name"},
	{`{byTime: {cron: TZ=UTC 0 6 \* \* \*}}`, `{}`, "invalid conditionsReset"},
	{`cron: 0 5 \* \* 1-5`, `cron: "@daily"`, `invalid cron expression "@daily"`},
	{`cron: TZ=UTC 0 6`, `cron: TZ=Mars 0 6`, `invalid cron expression "TZ=Mars 0 6 * * *"`},
	{`cron: TZ=UTC 0 6 \* \* \*`, `cron: TZ=UTC`, `invalid cron expression "TZ=UTC"`},
	{`America/New_York`, `America`, `invalid timezone "America"`},
	{`operation: create, source: {resource: {a: b}}`, `operation: create`, "trigger for template objects is invalid, k8s trigger does not contain an absolute action"},
	{`operation: create`, `operation: make`, "trigger for template objects is invalid, unknown operation type make"},
	{`source: {url: {path: p}}, `, ``, "template objects is invalid, argoWorkflow trigger does not contain an absolute action"},
	{`operation: submit`, `operation: ""`, "template objects is invalid, unknown operation type "},
	{`{resource: {a: b}}, parameters: &list \[{src: {dependencyName: first}`, `{resource: {a: b}}, parameters: &list [{src: null`, "resource parameter index: 0. err: parameter source can't be empty"},
	{`{src: {dependencyName: second}, dest: b}`, `{src: {}, dest: b}`, "resource parameter index: 1. err: parameter dependency name can't be empty"},
	{`dest: b`, `dest: ""`, "resource parameter index: 1. err: parameter destination can't be empty"},
	{`operation: append`, `operation: remove`, "resource parameter index: 0. err: parameter operation remove is invalid"},
	{`({path: p}}, parameters:) \*list`, `$1 [{}]`, "template objects is invalid, resource parameter index: 0"},
	{`policy: {k8s: {labels: {a: b}}}`, `policy: {k8s: {}}`, "resource labels are not specified"},
	{`(policy: .*\n    parameters:) \*list`, `$1 [{}]`, "template parameter index: 0"},
	{`    atLeastOnce: true\n    dlq`, `    dlq`, "trigger.atLeastOnce must be set to true"},
	{`      atLeastOnce: true\n`, ``, "atLeastOnce must be set to true within the dlqTrigger"},
	{`{name: dead, log: {}}`, `{log: {}}`, "trigger must define a name"},

	{`url: http://x, `, ``, "template calls is invalid, server URL is not specified"},
	{`method: POST`, `method: HEAD`, "only GET, DELETE, PATCH, POST and PUT"},
	{`(POST, parameters:) \*list`, `$1 [{}]`, "resource parameter index: 0"},
	{`(payload: \[{src: {)dependencyName: first`, `$1`, "payload index: 0. err: parameter dependency name"},
	{`payload: \[{src: {dependencyName: first},`, `payload: [{`, "payload index: 0. err: parameter source"},
	{`operation: prepend`, `operation: x`, "payload index: 0. err: parameter operation x is invalid"},
	{`functionName: f, `, ``, "function name is not specified"},
	{`region: r, `, ``, "region in not specified"},
	{`(region: r, parameters: \*list), payload: \*list`, `$1`, "payload parameters are not specified"},
	{`(region: r, parameters:) \*list`, `$1 [{}]`, "resource parameter index: 0"},
	{`(region: r, parameters: \*list, payload:) \*list`, `$1 [{}]`, "payload index: 0"},
	{`url: k, `, ``, "broker url must not be empty"},
	{`topic: t, `, ``, "topic must not be empty"},
	{`(topic: t), payload: \*list`, `$1`, "payload must not be empty"},
	{`(topic: t, payload:) \*list`, `$1 [{}]`, "payload index: 0"},
	{`url: n, `, ``, "nats server url can't be empty"},
	{`subject: s, `, ``, "nats subject can't be empty"},
	{`(subject: s), payload: \*list`, `$1`, "payload can't be nil"},
	{`(subject: s, payload:) \*list`, `$1 [{}]`, "payload index: 0"},
	{`slackToken: {name: a, key: b}, `, ``, "slack token can't be empty"},
	{`(slackToken: .*, parameters:) \*list`, `$1 [{}]`, "resource parameter index: 0"},
	{`actionName: a, `, ``, "action name is not specified"},
	{`host: h, `, ``, "host URL is not specified"},
	{`authToken: {name: a, key: b}`, `authToken: {name: a}`, "auth token key and name must be specified"},
	{`authToken: {name: a, key: b}`, `authToken: {key: b}`, "auth token key and name must be specified"},
	{`(authToken: .*, parameters:) \*list`, `$1 [{}]`, "resource parameter index: 0"},
	{`(authToken: .*), payload: \*list`, `$1`, "payload parameters are not specified"},
	{`(authToken: .*, payload:) \*list`, `$1 [{}]`, "resource parameter index: 0"},
	{`serverURL: u, `, ``, "custom trigger gRPC server url is not defined"},
	{`spec: {a: b}, `, ``, "trigger body can't be empty"},
	{`certSecret: {name: a, key: b}, `, ``, "certSecret can't be nil"},
	{`(certSecret: .*, parameters:) \*list`, `$1 [{}]`, "resource parameter index: 0"},
	{`host: mail, `, ``, "host can't be empty"},
	{`port: 25`, `port: -1`, "port: -1, port should be between 0-65535"},
	{`port: 25`, `port: 65536`, "port: 65536, port should be between 0-65535"},
	{`(port: 25, parameters:) \*list`, `$1 [{}]`, "resource parameter index: 0"},
	{`policy: {status: {allow: \[200]}}`, `policy: {status: {}}`, "list of allowed response status is not specified"},
	{`(?s)http: [^\n]*(.*)policy: {status: .*`, `${1}policy: {status: {}}`, "list of allowed response status is not specified"},
}

// eventBuses are EventBuses, each with its error; empty if it is valid.
var eventBuses = []struct{ bus, want string }{
	{`{}`, "needs to be specified"},
	{`{jetstream: {version: latest}}`, ""},
	{`{jetstream: {version: latest, replicas: 1}}`, ""},
	{`{jetstream: {version: latest, replicas: 3}}`, ""},
	{`{jetstream: {version: latest, replicas: 2}}`, "requires 1 replica or >= 3 replicas"},
	{`{jetstream: {version: latest, replicas: 0}}`, "requires 1 replica or >= 3 replicas"},
	{`{jetstream: {version: latest, replicas: -1}}`, "requires 1 replica or >= 3 replicas"},
	{`{jetstream: {}}`, "a version for jetstream needs to be specified"},
	{`{nats: {}}`, `either "native" or "exotic" must be defined`},
	{`{nats: {native: {}, exotic: {}}}`, "can not be defined together"},
	{`{nats: {native: {replicas: 3}}}`, ""},
	{`{nats: {exotic: {url: u, clusterID: c}}}`, ""},
	{`{nats: {exotic: {url: u}}}`, `"spec.nats.exotic.clusterID" is missing`},
	{`{nats: {exotic: {clusterID: ""}}}`, `"spec.nats.exotic.url" is missing`},
	{`{kafka: {url: u}}`, ""},
	{`{kafka: {}}`, `"spec.kafka.url" is missing`},
	{`{jetstreamExotic: {url: u}}`, ""},
	{`{jetstreamExotic: {}}`, `"spec.jetstreamExotic.url" is missing`},
	{`{nats: {native: {}}, jetstream: {}, kafka: {}, jetstreamExotic: {}}`, "a version for jetstream needs to be specified"},
}

func TestMistakes(t *testing.T) {
	bus := &eventsv1.EventBus{}
	if got := sensorError(t, read[eventsv1.Sensor](t, complete), bus); got != "<nil>" {
		t.Fatalf("the complete Sensor is invalid: %s", got)
	}
	for _, m := range mistakes {
		text := regexp.MustCompile(m.old).ReplaceAllString(complete, m.new)
		if text == complete {
			t.Errorf("%s is not in the complete Sensor", m.old)
		}
		if got := sensorError(t, read[eventsv1.Sensor](t, text), bus); !strings.Contains(got, m.want) {
			t.Errorf("%s instead of %s: %s, want %s", m.new, m.old, got, m.want)
		}
	}
}

func TestEventBuses(t *testing.T) {
	for _, b := range eventBuses {
		bus := read[eventsv1.EventBus](t, "spec: "+b.bus)
		if got := busError(t, bus); !strings.Contains(got, b.want) || (b.want == "") != (got == "<nil>") {
			t.Errorf("%s: %s, want %s", b.bus, got, b.want)
		}
	}
}

// TestRepeatedEvents requires that only NATS streaming delivers an event to one
// dependency only.
func TestRepeatedEvents(t *testing.T) {
	s := read[eventsv1.Sensor](t, strings.Replace(complete, "eventName: other", "eventName: event", 1))
	for _, b := range eventBuses {
		bus := read[eventsv1.EventBus](t, "spec: "+b.bus)
		got := sensorError(t, s, bus)
		if refused := strings.Contains(got, "more than one dependency"); refused != (bus.Spec.NATS != nil) {
			t.Errorf("%s: %s", b.bus, got)
		}
	}
}

func TestNil(t *testing.T) {
	sensorError(t, nil, &eventsv1.EventBus{})
	sensorError(t, nil, nil)
	sensorError(t, &eventsv1.Sensor{}, nil)
}

// TestExamples compares the errors of the Sensors and EventBuses among the examples
// of Argo Events, and among all files of this repository: those that argoperator
// emits, and the input of lint.
func TestExamples(t *testing.T) {
	sensors, buses := examples(t)
	if len(sensors) < 150 || len(buses) < 8 {
		t.Errorf("only %d Sensors and %d EventBuses", len(sensors), len(buses))
	}
	for _, b := range buses {
		busError(t, b)
	}
	for _, s := range sensors {
		for _, b := range eventBuses[:12] {
			sensorError(t, s, read[eventsv1.EventBus](t, "spec: "+b.bus))
		}
	}
}

// sensorError returns the error of a Sensor. It requires that Argo's is the same, and
// that the Sensor does not change.
func sensorError(t *testing.T, s *eventsv1.Sensor, bus *eventsv1.EventBus) string {
	t.Helper()
	argo := func() (text string) {
		defer func() {
			if failed := recover(); failed != nil {
				text = fmt.Sprint("panic: ", failed)
			}
		}()
		return fmt.Sprint(sensor.ValidateSensor(s.DeepCopy(), bus.DeepCopy()))
	}
	before := s.DeepCopy()
	want, got := argo(), fmt.Sprint(eventsrules.Sensor(s, bus))
	switch {
	case strings.HasPrefix(want, "panic: "):
		if !strings.HasPrefix(got, "invalid cron expression") {
			t.Errorf("got %s where Argo panics with %s", got, want)
		}
	case got != want && got != argo(): // the error of a time has the date
		text, _ := yaml.Marshal(s)
		t.Errorf("got  %s\nwant %s\nfor %s", got, want, text)
	}
	if !reflect.DeepEqual(before, s) {
		t.Errorf("the Sensor has changed:\n%s", cmp.Diff(before, s))
	}
	return got
}

// busError does the same for an EventBus.
func busError(t *testing.T, bus *eventsv1.EventBus) string {
	t.Helper()
	want, got := fmt.Sprint(eventbus.ValidateEventBus(bus.DeepCopy())), fmt.Sprint(eventsrules.EventBus(bus))
	if got != want {
		text, _ := yaml.Marshal(bus)
		t.Errorf("got  %s\nwant %s\nfor %s", got, want, text)
	}
	return got
}

func read[T any](t *testing.T, text string) *T {
	t.Helper()
	out := new(T)
	if err := yaml.UnmarshalStrict([]byte(text), out); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return out
}

// examples reads all Sensors and EventBuses of the module of Argo Events and of this
// repository that are YAML.
func examples(t testing.TB) (sensors []*eventsv1.Sensor, buses []*eventsv1.EventBus) {
	t.Helper()
	module, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/argoproj/argo-events").Output()
	if err != nil {
		t.Fatal(err)
	}
	separator, kind := regexp.MustCompile(`(?m)^---.*$`), regexp.MustCompile(`(?m)^kind: (Sensor|EventBus)$`)
	visit := func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".md"}, filepath.Ext(path)) {
			return err
		}
		data, err := os.ReadFile(path)
		for _, text := range separator.Split(string(data), -1) {
			found := kind.FindStringSubmatch(text)
			if found == nil {
				continue
			}
			s, b := &eventsv1.Sensor{}, &eventsv1.EventBus{}
			switch {
			case found[1] == "Sensor" && yaml.Unmarshal([]byte(text), s) == nil:
				sensors = append(sensors, s)
			case found[1] == "EventBus" && yaml.Unmarshal([]byte(text), b) == nil:
				buses = append(buses, b)
			}
		}
		return err
	}
	for _, dir := range []string{strings.TrimSpace(string(module)), "../../../../../testdata", "../../../../../examples"} {
		if err := filepath.WalkDir(dir, visit); err != nil {
			t.Fatal(err)
		}
	}
	return sensors, buses
}
