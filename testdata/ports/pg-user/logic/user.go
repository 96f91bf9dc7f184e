//go:build ignore

// Keeps the role of a PostgresUser, and its Secret.
package main

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"math/big"
	"net/url"
	"os"
	"strings"
	"text/template"
)

type object struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   metadata          `json:"metadata"`
	Data       map[string][]byte `json:"data,omitempty"`
}

type metadata struct {
	Name              string            `json:"name"`
	Namespace         string            `json:"namespace"`
	Labels            map[string]string `json:"labels,omitempty"`
	Annotations       map[string]string `json:"annotations,omitempty"`
	DeletionTimestamp string            `json:"deletionTimestamp,omitempty"`
}

type status struct {
	Succeeded     bool        `json:"succeeded"`
	PostgresRole  string      `json:"postgresRole"`
	PostgresLogin string      `json:"postgresLogin"`
	PostgresGroup string      `json:"postgresGroup"`
	DatabaseName  string      `json:"databaseName"`
	EnableIamAuth bool        `json:"enableIamAuth"`
	Conditions    []condition `json:"conditions,omitempty"`
}

type condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

type user struct {
	object
	Spec struct {
		Role, Database, SecretName, Privileges string
		SecretTemplate, Labels, Annotations    map[string]string
		AWS                                    struct{ EnableIamAuth bool }
	}
	Status status
}

type database struct {
	object
	Spec   struct{ Database string }
	Status struct {
		Succeeded bool
		Roles     struct{ Owner, Reader, Writer string }
	}
}

type request struct {
	Parent   user
	Children struct {
		Secrets map[string]object `json:"Secret.v1"`
	}
	Related struct {
		Databases map[string]database `json:"Postgres.db.movetokube.com/v1alpha1"`
		Users     map[string]object   `json:"PostgresUser.db.movetokube.com/v1alpha1"`
	}
	Finalizing bool
	Parameters struct {
		URIArgs, DefaultDatabase, CloudProvider, Instance string
		KeepSecretName                                    bool
	}
}

type response struct {
	Children           []object `json:"children"`
	Status             *status  `json:"status,omitempty"`
	Finalized          bool     `json:"finalized,omitempty"`
	Delete             []object `json:"delete,omitempty"`
	ResyncAfterSeconds int      `json:"resyncAfterSeconds,omitempty"`
}

func main() {
	var given request
	data, err := os.ReadFile(os.Getenv("ARGOPERATOR_REQUEST"))
	if err == nil {
		err = json.Unmarshal(data, &given)
	}
	if err != nil {
		log.Fatal(err)
	}
	answer, err := sync(&given)
	if err != nil {
		log.Fatal(err)
	}
	if data, err = json.Marshal(answer); err == nil {
		err = os.WriteFile(os.Getenv("ARGOPERATOR_RESPONSE"), data, 0o600)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func sync(r *request) (*response, error) {
	u := &r.Parent
	if !r.ours(u.Metadata) {
		return &response{Finalized: true}, nil
	}
	db, found := r.Related.Databases[u.Spec.Database]
	found = found && r.ours(db.Metadata)
	there := found && db.Metadata.DeletionTimestamp == ""
	if r.Finalizing {
		return &response{Finalized: true}, r.drop(there)
	}
	answer := &response{Status: &u.Status}
	for _, secret := range r.Children.Secrets {
		answer.Children = append(answer.Children, object{secret.APIVersion, secret.Kind, metadata{
			Name: secret.Metadata.Name, Namespace: secret.Metadata.Namespace, Labels: r.labels(), Annotations: u.Spec.Annotations,
		}, secret.Data})
	}
	if u.Status.PostgresRole != "" && !there {
		for _, self := range r.Related.Users { // as the garbage collector does where a Postgres owns its users
			answer.Delete = append(answer.Delete, self)
		}
		return answer, nil
	}
	err := fmt.Errorf("database %q is not ready", u.Spec.Database)
	if found && db.Status.Succeeded {
		err = r.keep(&db, answer)
	}
	u.Status.Succeeded, u.Status.Conditions = err == nil, nil
	if err != nil {
		u.Status.Conditions = []condition{{"Ready", "False", "Failed", err.Error()}}
		answer.ResyncAfterSeconds = 30
	}
	return answer, nil
}

// ours reports whether the installation looks after an object.
func (r *request) ours(m metadata) bool {
	return strings.EqualFold(m.Annotations["postgres.db.movetokube.com/instance"], r.Parameters.Instance)
}

func (r *request) server() server {
	args, _ := url.ParseQuery(r.Parameters.URIArgs)
	return server{os.Getenv("POSTGRES_HOST"), os.Getenv("POSTGRES_USER"), os.Getenv("POSTGRES_PASS"), args}
}

// keep makes the role what the user asks for, and the Secret.
func (r *request) keep(db *database, answer *response) error {
	u := &r.Parent
	group := db.Status.Roles.Owner
	switch u.Spec.Privileges {
	case "READ":
		group = db.Status.Roles.Reader
	case "WRITE":
		group = db.Status.Roles.Writer
	}
	password := ""
	if len(answer.Children) > 0 {
		password = string(answer.Children[0].Data["PASSWORD"])
	}
	kept, before := password != "", u.Status
	if !kept {
		password = random(15)
	}
	statements := r.statements(group, password, kept, db.Spec.Database)
	if err := r.run(statements); err != nil {
		u.Status = before
		return err
	}
	u.Status.PostgresGroup, u.Status.EnableIamAuth = group, r.aws() && u.Spec.AWS.EnableIamAuth
	secret, err := r.secret(password)
	if err != nil {
		return err
	}
	answer.Children = []object{*secret}
	return nil
}

func (r *request) run(statements []string) error {
	if len(statements) == 0 {
		return nil
	}
	c, err := r.server().connect(r.Parameters.DefaultDatabase)
	if err != nil {
		return err
	}
	defer c.Close()
	return c.run(statements...)
}

func (r *request) aws() bool { return r.Parameters.CloudProvider == "AWS" }

// statements are what the server does not have yet. They are one transaction, so that a role is either complete or not there.
func (r *request) statements(group, password string, kept bool, databaseName string) []string {
	u, admin := &r.Parent, identifier(os.Getenv("POSTGRES_USER"))
	before, was := u.Status.PostgresGroup, u.Status.EnableIamAuth
	var out []string
	add := func(format string, names ...any) { out = append(out, fmt.Sprintf(format, names...)) }
	if u.Status.PostgresRole == "" {
		name := u.Spec.Role + "-" + random(6)
		u.Status.PostgresRole, u.Status.PostgresLogin, u.Status.DatabaseName = name, name, databaseName
		before, was = "", false
		add("CREATE ROLE %s WITH LOGIN PASSWORD %s", identifier(name), literal(password))
		if r.aws() { // its administrator is no superuser
			add("GRANT %s TO %s", identifier(name), admin)
		}
	} else if !kept {
		add("ALTER ROLE %s WITH PASSWORD %s", identifier(u.Status.PostgresRole), literal(password))
	}
	role := identifier(u.Status.PostgresRole)
	if before != group {
		if before != "" {
			add("REVOKE %s FROM %s", identifier(before), role)
		}
		add("GRANT %s TO %s", identifier(group), role)
		if r.aws() {
			add("GRANT %s TO %s", role, admin)
		}
		add("ALTER USER %s SET ROLE %s", role, identifier(group))
		if r.aws() {
			add("REVOKE %s FROM %s", role, admin)
		}
	}
	if asked := r.aws() && u.Spec.AWS.EnableIamAuth; asked && !was {
		add("GRANT rds_iam TO %s", role)
	} else if !asked && was {
		add("REVOKE rds_iam FROM %s", role)
	}
	return out
}

func (r *request) labels() map[string]string {
	labels := map[string]string{"app": r.Parent.Metadata.Name}
	maps.Copy(labels, r.Parent.Spec.Labels)
	return labels
}

func (r *request) secret(password string) (*object, error) {
	u := &r.Parent
	host, args := os.Getenv("POSTGRES_HOST"), r.Parameters.URIArgs
	name, port := address(host)
	role, db := u.Status.PostgresRole, u.Status.DatabaseName
	data := map[string][]byte{}
	for key, value := range map[string]string{
		"POSTGRES_URL":        fmt.Sprintf("postgresql://%s:%s@%s/%s", role, password, host, db),
		"POSTGRES_JDBC_URL":   fmt.Sprintf("jdbc:postgresql://%s/%s", host, db),
		"POSTGRES_DOTNET_URL": fmt.Sprintf("User ID=%s;Password=%s;Host=%s;Port=%s;Database=%s;", role, password, name, port, db),
		"HOST":                host, "DATABASE_NAME": db, "URI_ARGS": args, "ROLE": role, "PASSWORD": password,
		"LOGIN": u.Status.PostgresLogin, "PORT": port, "HOSTNAME": name,
	} {
		data[key] = []byte(value)
	}
	values := struct{ Host, Role, Database, Password, Hostname, Port, UriArgs string }{host, role, db, password, name, port, args}
	for key, text := range u.Spec.SecretTemplate {
		parsed, err := template.New(key).Funcs(template.FuncMap{"mergeUriArgs": r.mergeArgs}).Parse(text)
		if err != nil {
			return nil, err
		}
		var out bytes.Buffer
		if err := parsed.Execute(&out, values); err != nil {
			return nil, err
		}
		data[key] = out.Bytes()
	}
	full := u.Spec.SecretName + "-" + u.Metadata.Name
	if r.Parameters.KeepSecretName {
		full = u.Spec.SecretName
	}
	return &object{"v1", "Secret", metadata{
		Name: full, Namespace: u.Metadata.Namespace, Labels: r.labels(), Annotations: u.Spec.Annotations,
	}, data}, nil
}

// mergeArgs is the function of the templates that adds the arguments of the installation.
func (r *request) mergeArgs(args string) (string, error) {
	merged, err := url.ParseQuery(args)
	if err != nil {
		return "", err
	}
	more, err := url.ParseQuery(r.Parameters.URIArgs)
	for key, value := range more {
		merged.Set(key, value[0])
	}
	return merged.Encode(), err
}

// drop gives what the role owns to its group, and drops it.
func (r *request) drop(databaseThere bool) error {
	s, def := &r.Parent.Status, r.Parameters.DefaultDatabase
	if s.PostgresRole == "" {
		return nil
	}
	in := def
	if databaseThere {
		in = cmp.Or(s.DatabaseName, def)
	}
	c, err := r.server().connect(in)
	if refused(err, "3D000") { // there is no such database any more
		return nil
	} else if err != nil {
		return err
	}
	defer c.Close()
	role, group, admin := identifier(s.PostgresRole), identifier(s.PostgresGroup), identifier(os.Getenv("POSTGRES_USER"))
	if r.Parameters.CloudProvider != "None" { // its administrator is no superuser
		for _, member := range []string{role, group} {
			if err := c.run("GRANT " + member + " TO " + admin); refused(err, "42704") {
				return nil
			} else if err != nil && !refused(err, "0LP01") {
				return err
			}
		}
		defer c.run("REVOKE " + group + " FROM " + admin)
	}
	for _, statement := range []string{"REASSIGN OWNED BY " + role + " TO " + group, "DROP OWNED BY " + role, "DROP ROLE " + role} {
		if err := c.run(statement); err != nil && !refused(err, "42704") {
			return err
		}
	}
	return nil
}

func random(length int) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ1234567890"
	out := make([]byte, length)
	for i := range out {
		n, _ := rand.Int(rand.Reader, big.NewInt(int64(len(letters))))
		out[i] = letters[n.Int64()]
	}
	return string(out)
}
