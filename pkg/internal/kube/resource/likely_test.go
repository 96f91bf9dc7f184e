package resource

import (
	"regexp"
	"testing"
)

func TestLikely(t *testing.T) {
	for name, want := range map[string]string{
		"image": "docker.io/library/nginx:1.29", "containerImage": "docker.io/library/nginx:1.29", "hostname": "example.com", "hostNames": "example.com",
		"schedule": "0 3 * * *", "storageClassName": "standard", "adminPassword": "change-me", "apiKey": "change-me", "serverURL": "https://example.com",
		"memory": "1Gi", "cpuLimit": "500m", "scrapeInterval": "5m", "pod_cidr": "10.0.0.0/16", "secretName": "sample", "colour": "",
	} {
		got := append(likely(name), "")[0]
		if got != want {
			t.Errorf("%s is likely %q, want %q", name, got, want)
		}
	}
}

// secretLooking matches what secret scanners search for: cloud keys, private keys, long
// random words.
var secretLooking = regexp.MustCompile(`AKIA|-----BEGIN|eyJ[a-zA-Z0-9]|gh[pousr]_|xox[bp]-|(?i)p@ss|hunter2|[A-Za-z0-9+/]{40,}={0,2}$`)

func TestNoSampleLooksLikeASecret(t *testing.T) {
	s := schemaOf(t, `{type: object, properties: {password: {type: string, minLength: 12}, token: {type: string}, clientSecret: {type: string}, privateKey: {type: string}, accessKeyID: {type: string, pattern: '^[a-zA-Z-]+$'}, secret: {type: string, format: password}, data: {type: string, format: byte}}}`)
	object, err := s.Full()
	if err != nil {
		t.Fatal(err)
	}
	for field, value := range object["spec"].(map[string]any) {
		if secretLooking.MatchString(value.(string)) {
			t.Errorf("%s is %v", field, value)
		}
	}
}

func TestFullIsReadable(t *testing.T) {
	s := schemaOf(t, `
type: object
properties:
  image: {type: string}
  port: {type: integer, minimum: 1, maximum: 65535}
  lowPort: {type: integer, maximum: 1023, minimum: 1}
  targetPort: {x-kubernetes-int-or-string: true}
  memory: {x-kubernetes-int-or-string: true, pattern: '^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$'}
  interval: {type: string, pattern: '^([0-9]+(ms|s|m|h))+$'}
  release: {type: string, pattern: '^v[0-9]+\.[0-9]+\.[0-9]+$'}
  labels: {type: object, additionalProperties: {type: string}}
  names: {type: array, items: {type: string}}
`)
	want := `{"image":"docker.io/library/nginx:1.29","interval":"5m","labels":{"key":"value"},"lowPort":1,"memory":"1Gi","names":["sample"],"port":8080,"release":"v1.2.3","targetPort":8080}`
	object, err := s.Full()
	if err != nil {
		t.Fatal(err)
	}
	if got := jsonText(object["spec"]); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
