package lint

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"github.com/expr-lang/expr/ast"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/argoperator/argoperator/pkg/diag"
)

// form is how the text of a field must look.
type form struct {
	field string // the path of the field
	right func(text string) bool
	wrong string // the problem of another text
	hint  func(text string) string
}

// check reports a text of another form, unless a program will replace parts of it.
func (f form) check(i *inspection, at *field.Path, text string) {
	if text != "" && !fromTemplate(text) && !f.right(text) {
		i.reportHint(at, f.hint(text), "%s", f.wrong)
	}
}

// fromTemplate reports whether a program will replace parts of a text, such as Helm or a shell.
func fromTemplate(text string) bool {
	return strings.Contains(text, "${") || strings.Contains(text, "{{") || strings.Contains(text, "$(")
}

// schemes matches the schemes of URLs in a text.
var schemes = lazily(`[\w+]+://`)

// address is the form of a field with a host and a port, or a list of them.
func address(of string) form {
	plain := func(text string) bool { return !strings.Contains(text, "://") }
	return form{of, plain, "the address must not have a scheme", func(text string) string {
		return "write " + strings.TrimSuffix(schemes().ReplaceAllString(text, ""), "/")
	}}
}

// withScheme is the form of a field with a URL. The hint suggests the first scheme.
func withScheme(of string, known ...string) form {
	return form{of, func(text string) bool {
		scheme, _, has := strings.Cut(text, "://")
		return has && slices.Contains(known, strings.ToLower(scheme))
	}, "the URL does not begin with " + strings.Join(known, ":// or ") + "://", func(text string) string {
		return "write " + known[0] + "://" + schemes().ReplaceAllString(text, "")
	}}
}

// pattern is the form of a field that a regular expression matches.
func pattern(of, expression, wrong, hint string) form {
	matcher := lazily(expression)
	return form{of, func(text string) bool { return matcher().MatchString(text) }, wrong, func(string) string { return hint }}
}

var fileEvents = pattern("eventType", `^(CREATE|REMOVE|WRITE|RENAME|CHMOD|MOVE)(\|(CREATE|REMOVE|WRITE|RENAME|CHMOD))*$`,
	"no change of a file has this type of event", "use CREATE, WRITE, REMOVE, RENAME or CHMOD")

// forms are the forms of texts without which no event arrives, by the type of the source.
var forms = map[string][]form{
	"amqp":           {withScheme("url", "amqp", "amqps")},
	"azureEventsHub": {address("fqdn")},
	"file":           {fileEvents},
	"kafka": {address("url"), pattern("version", `^(0(\.\d+){3}|[1-9]\d*(\.\d+){2})$`,
		"a version of Kafka has three numbers", "write three numbers, such as 3.6.0")},
	"pulsar":      {withScheme("url", "pulsar", "pulsar+ssl", "http", "https")},
	"redis":       {address("hostAddress")},
	"redisStream": {address("hostAddress")},
	"sftp":        {fileEvents},
}

var (
	partitionForm = pattern("partition", `^\d{1,9}$`, "the partition is not a number", "write a number in quotes")
	queries       = lazily(`[?#].*`)
	endpointForm  = form{
		"endpoint", func(text string) bool { return strings.HasPrefix(text, "/") && !strings.ContainsAny(text, "?#") },
		"no request matches the endpoint, which is a path", func(text string) string {
			return "write endpoint: /" + strings.TrimLeft(queries().ReplaceAllString(text, ""), "/")
		},
	}
	// exchangeTypes are the types of exchanges without a plugin of the broker.
	exchangeTypes = []string{"direct", "fanout", "headers", "topic"}
)

// at returns the path of a field of an event.
func (e *namedEvent) at(name string) *field.Path {
	steps := strings.Split(name, ".")
	return e.path.Child(steps[0], steps[1:]...)
}

// method checks the method of a webhook, which must be that of the request, letter by letter.
func (i *inspection) method(of *namedEvent, text string) {
	switch upper := strings.ToUpper(text); {
	case text == "GET" || text == "POST" || fromTemplate(text):
	case text == "":
		i.reportHint(of.path, "add method: POST", "without method, the server rejects each request")
	case upper == "GET" || upper == "POST":
		i.reportHint(of.at("method"), "write "+upper, "the server compares the method with that of the request, which is not %s", text)
	default:
		i.reportHint(of.at("method"), "use POST or GET", "the server rejects each request of method %s", text)
	}
}

// repositoryNames reports repositories that GitHub does not have, if the source creates webhooks in them.
func (i *inspection) repositoryNames(of *namedEvent, e eventsv1.GithubEventSource) {
	for n, r := range e.Repositories {
		for m, name := range r.Names {
			if e.NeedToCreateHooks() && strings.Contains(name, "/") && !fromTemplate(name) {
				i.reportHint(of.at("repositories").Index(n).Child("names").Index(m), "write "+name[strings.LastIndex(name, "/")+1:],
					"the name of a repository does not include its owner")
			}
		}
	}
}

// silentSources reports settings that Argo Events accepts, and with which no event arrives.
func silentSources(i *inspection, s *eventsv1.EventSource) {
	i.deafPorts(s)
	for of, entry := range entriesOf(s) {
		if hook := webhookOf(of, entry); hook.IsValid() {
			endpointForm.check(i, hookPath(of).Child("endpoint"), textOf(hook, "endpoint"))
			if slices.Contains(withoutBearer, of.kind) && isSet(hook, "authSecret") {
				i.reportHint(of.at("webhook.authSecret"), "remove it, and set the secret with which the service signs its requests",
					"%s sends no bearer token, so each request is rejected", of.kind)
			}
		}
		if filter := textOf(entry, "filter.expression"); filter != "" {
			i.sourceFilter(of, filter)
		}
		for _, f := range forms[of.kind] {
			f.check(i, of.at(f.field), textOf(entry, f.field))
		}
		if backoff, ok := fieldNamed(entry, "connectionBackoff"); ok {
			i.backoff(of.path.Child("connectionBackoff"), backoff.Interface().(*eventsv1.Backoff), "the source never connects")
		}
		i.silentOfType(of, entry.Interface())
	}
}

// silentOfType checks what only one type of source has.
func (i *inspection) silentOfType(of *namedEvent, entry any) {
	switch e := entry.(type) {
	case eventsv1.S3Artifact:
		if strings.Contains(e.Endpoint, "://") {
			_, host, _ := strings.Cut(e.Endpoint, "://")
			i.reportHint(of.path.Child("endpoint"), "write "+host+", and insecure: true for a server without TLS",
				"an endpoint is a host and a port, without a scheme")
		}
	case eventsv1.SQSEventSource:
		if e.WaitTimeSeconds < 0 || e.WaitTimeSeconds > 20 {
			i.reportHint(of.at("waitTimeSeconds"), "write 20 or less", "SQS rejects a wait of %d seconds", e.WaitTimeSeconds)
		}
		if strings.Contains(e.Queue, "/") {
			i.reportHint(of.path.Child("queue"), "write "+e.Queue[strings.LastIndex(e.Queue, "/")+1:],
				"queue is the name of the queue, not its URL")
		}
	case eventsv1.WebhookEventSource:
		i.method(of, e.Method)
	case eventsv1.GithubEventSource:
		i.repositoryNames(of, e)
	case eventsv1.GenericEventSource:
		if !e.Insecure {
			i.reportHint(of.path, "add insecure: true", "the source never connects without insecure, because it has no setting for TLS")
		}
	case eventsv1.KafkaEventSource:
		if e.ConsumerGroup == nil {
			partitionForm.check(i, of.at("partition"), e.Partition)
		} else if e.ConsumerGroup.GroupName == "" {
			i.reportHint(of.at("consumerGroup"), "add groupName", "Kafka rejects a consumer group without a name")
		}
	case eventsv1.AMQPEventSource:
		if near := diag.Nearest(e.ExchangeType, exchangeTypes, strings.ToLower); near != "" && near != e.ExchangeType {
			i.reportHint(of.at("exchangeType"), "write "+near, "the broker has no exchange type %s", e.ExchangeType)
		}
	case eventsv1.FileEventSource:
		if c := e.WatchPathConfig; c.Path != "" && c.Directory != "" && !strings.HasSuffix(c.Directory, "/") &&
			!strings.Contains(c.Directory, "{{") {
			i.reportHint(of.path.Child("watchPathConfig", "directory"), "write "+c.Directory+"/",
				"the path is compared with what follows the directory, and that begins with /")
		}
	}
}

// sourceFilter checks the expression with which a pod of an EventSource filters events.
func (i *inspection) sourceFilter(of *namedEvent, text string) {
	at := of.path.Child("filter", "expression")
	tree, err := parsed(text)
	if err != nil {
		i.report(at, "%v", err)
		return
	}
	names := filterNames{called: []string{"sprig", "$env"}}
	for _, part := range decisive(tree.Node) {
		ast.Walk(&part, &names)
	}
	fields := append(slices.Clone(shapes[of.kind]), "metadata")
	for _, m := range names.members {
		root, name := m.Node.(*ast.IdentifierNode), m.Property.(*ast.StringNode).Value
		if slices.Contains(names.called, root.Value) {
			continue
		}
		canonical := http.CanonicalHeaderKey(name)
		switch {
		case root.Value == httpHeaders[of.kind] && canonical != name:
			i.reportHint(at, "write "+canonical, "the header %s is called %s here", name, canonical)
		case root.Value == "body" && of.text:
			names.called = append(names.called, root.Value)
			i.reportHint(at, "set jsonBody: true in "+of.path.String(), "without jsonBody, the body of events of type %s is text", of.kind)
		case len(fields) > 1 && !slices.Contains(fields, root.Value) && slices.Contains(fields, name):
			names.called = append(names.called, root.Value)
			i.reportHint(at, "write "+name+" in place of "+root.Value+"."+name, "events of type %s have no field %s", of.kind, root.Value)
		}
	}
	for _, root := range names.roots {
		if len(fields) > 1 && !slices.Contains(fields, root) && !slices.Contains(names.called, root) {
			i.reportHint(at, cmp.Or(diag.DidYouMean(root, fields, strings.ToLower), "they have "+strings.Join(fields, ", ")),
				"events of type %s have no field %s", of.kind, root)
		}
	}
}

// decisive returns the parts of a filter that no event passes if they fail, or compare null with a value.
func decisive(filter ast.Node) []ast.Node {
	and, is := filter.(*ast.BinaryNode)
	switch {
	case is && (and.Operator == "&&" || and.Operator == "and"):
		return append(decisive(and.Left), decisive(and.Right)...)
	case is && and.Operator == "!=":
		return nil
	}
	choice := choices{}
	ast.Walk(&filter, &choice)
	if choice.found {
		return nil
	}
	return []ast.Node{filter}
}

// choices tells whether an expression evaluates a part of it only in some cases, or accepts null.
type choices struct{ found bool }

// Visit is of ast.Visitor.
func (c *choices) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.ConditionalNode, *ast.ChainNode, *ast.NilNode, *ast.UnaryNode, *ast.VariableDeclaratorNode:
		c.found = true
	case *ast.BinaryNode:
		c.found = c.found || slices.Contains([]string{"||", "or", "&&", "and", "??", "!="}, n.Operator)
	}
}

// filterNames are the names in an expression.
type filterNames struct {
	roots   []string          // of values
	called  []string          // of functions and variables
	members []*ast.MemberNode // with a fixed name, of a value
}

// Visit is of ast.Visitor.
func (f *filterNames) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		if !slices.Contains(f.roots, n.Value) {
			f.roots = append(f.roots, n.Value)
		}
	case *ast.CallNode:
		if callee, ok := n.Callee.(*ast.IdentifierNode); ok {
			f.called = append(f.called, callee.Value)
		}
	case *ast.MemberNode:
		_, of := n.Node.(*ast.IdentifierNode)
		if _, fixed := n.Property.(*ast.StringNode); of && fixed {
			f.members = append(f.members, n)
		}
	}
}

// withoutBearer are the services that sign their requests, and cannot send the bearer token of authSecret.
var withoutBearer = []string{"github", "slack", "sns", "stripe"}

// deafPorts reports ports of the Service on whose target no server of the EventSource listens.
func (i *inspection) deafPorts(s *eventsv1.EventSource) {
	if s.Spec.Service == nil {
		return
	}
	listens := []string{"metrics", strconv.Itoa(eventsv1.EventSourceMetricsPort)}
	for of, entry := range entriesOf(s) {
		if port := textOf(webhookOf(of, entry), "port"); port != "" {
			listens = append(listens, port)
		}
	}
	if strings.Contains(strings.Join(listens, ""), "{{") {
		return
	}
	for n, p := range s.Spec.Service.Ports {
		at, target := field.NewPath("spec", "service", "ports").Index(n), p.TargetPort.String()
		if target == "0" {
			at, target = at.Child("port"), strconv.Itoa(int(p.Port))
		} else {
			at = at.Child("targetPort")
		}
		if !slices.Contains(listens, target) {
			i.reportHint(at, "write the port of one of the events", "no server of the EventSource listens on port %s", target)
		}
	}
}
