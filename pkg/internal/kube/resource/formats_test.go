package resource

import (
	"encoding/base64"
	"errors"
	"math/rand/v2"
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
)

const quantityPattern = `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?[0-9]{1,2}))?$`

// TestDrawnValues compares values that are generated for a format or a named type with
// their consumers: Kubernetes and the Go library.
func TestDrawnValues(t *testing.T) {
	err := func(_ any, err error) error { return err }
	quantity := func(text string) error {
		q, err := resource.ParseQuantity(text)
		if err == nil && (q.Sign() <= 0 || q.Cmp(resource.MustParse("1T")) > 0) {
			t.Errorf("%s: nobody writes such an amount", text)
		}
		return err
	}
	listed := func(check func(string) []string) func(string) error {
		return func(text string) error {
			if problems := check(text); len(problems) > 0 {
				return errors.New(strings.Join(problems, "; "))
			}
			return nil
		}
	}
	tests := []struct {
		name, schema string
		read         func(string) error
	}{
		{"quantity", `x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}], pattern: '` + quantityPattern + `'`, quantity},
		{"quantity of text", `type: string, pattern: '` + quantityPattern + `'`, quantity},
		{"duration", "type: string, format: duration", func(s string) error { return err(time.ParseDuration(s)) }},
		{"date", "type: string, format: date", func(s string) error { return err(time.Parse(time.DateOnly, s)) }},
		{"date-time", "type: string, format: date-time", func(s string) error { return err(time.Parse(time.RFC3339, s)) }},
		{"ipv4", "type: string, format: ipv4", func(s string) error { return err(netip.ParseAddr(s)) }},
		{"ipv6", "type: string, format: ipv6", func(s string) error { return err(netip.ParseAddr(s)) }},
		{"cidr", "type: string, format: cidr", func(s string) error { return err(netip.ParsePrefix(s)) }},
		{"mac", "type: string, format: mac", func(s string) error { return err(net.ParseMAC(s)) }},
		{"uri", "type: string, format: uri", func(s string) error { return err(url.ParseRequestURI(s)) }},
		{"email", "type: string, format: email", func(s string) error { return err(mail.ParseAddress(s)) }},
		{"byte", "type: string, format: byte", func(s string) error { return err(base64.StdEncoding.DecodeString(s)) }},
		{"hostname", "type: string, format: hostname", listed(validation.IsDNS1123Subdomain)},
		{"k8s-short-name", "type: string, format: k8s-short-name", listed(validation.IsDNS1123Label)},
		{"k8s-long-name", "type: string, format: k8s-long-name", listed(validation.IsDNS1123Subdomain)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := schemaOf(t, "{type: object, required: [a], properties: {a: {"+test.schema+"}}}")
			var objects []map[string]any
			random := rand.New(rand.NewPCG(1, 2))
			for range 200 {
				object, err := s.Random(random)
				if err != nil {
					t.Fatal(err)
				}
				objects = append(objects, object)
			}
			cases, problem := s.Edges()
			if problem != nil {
				t.Fatal(problem)
			}
			for _, c := range cases {
				objects = append(objects, c.Object)
			}
			for _, object := range objects {
				switch value := object["spec"].(map[string]any)["a"].(type) {
				case string:
					if err := test.read(value); err != nil {
						t.Errorf("%q: %v", value, err)
					}
				case int64:
					if value < 1 || value > 1000 {
						t.Errorf("nobody writes %d", value)
					}
				}
			}
		})
	}
}
