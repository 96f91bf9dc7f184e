//go:build ignore

package main

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/md5"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// server is where databases are, and who may make roles there.
type server struct {
	host, user, password string
	args                 url.Values
}

// connection is as much of a client of PostgreSQL as statements without results need.
type connection struct {
	net.Conn
	in *bufio.Reader
}

// refusal is an answer of the server, with its code.
type refusal struct{ code, message string }

func (r *refusal) Error() string { return r.message + " (" + r.code + ")" }

// refused reports whether the server gave an answer with one of the codes.
func refused(err error, codes ...string) bool {
	var r *refusal
	if errors.As(err, &r) {
		for _, code := range codes {
			if r.code == code {
				return true
			}
		}
	}
	return false
}

func identifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// address returns the name and the port of a server.
func address(host string) (name, port string) {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		return host, "5432"
	}
	return name, port
}

func (s server) connect(database string) (*connection, error) {
	name, port := address(s.host)
	conn, err := net.DialTimeout("tcp", net.JoinHostPort(name, port), 5*time.Second)
	if err != nil {
		return nil, err
	}
	conn.SetDeadline(time.Now().Add(time.Minute))
	if mode := s.args.Get("sslmode"); mode != "disable" {
		if conn, err = encrypted(conn, name, mode); err != nil {
			return nil, err
		}
	}
	c := &connection{conn, bufio.NewReader(conn)}
	start := binary.BigEndian.AppendUint32(nil, 196608)
	start = append(start, "user\x00"+s.user+"\x00database\x00"+database+"\x00\x00"...)
	if _, err := c.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(start)+4)), start...)); err != nil {
		return nil, err
	}
	if err := c.logIn(s.user, s.password); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func encrypted(conn net.Conn, name, mode string) (net.Conn, error) {
	answer := make([]byte, 1)
	if _, err := conn.Write([]byte{0, 0, 0, 8, 4, 210, 22, 47}); err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(conn, answer); err != nil {
		return nil, err
	}
	if answer[0] != 'S' {
		return nil, errors.New("the server has no SSL; set sslmode=disable in uriArgs")
	}
	verified := mode == "verify-full" || mode == "verify-ca"
	return tls.Client(conn, &tls.Config{ServerName: name, InsecureSkipVerify: !verified}), nil
}

func (c *connection) send(kind byte, body []byte) error {
	_, err := c.Write(append(binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(body)+4)), body...))
	return err
}

func (c *connection) receive() (kind byte, body []byte, err error) {
	head := make([]byte, 5)
	if _, err := io.ReadFull(c.in, head); err != nil {
		return 0, nil, err
	}
	body = make([]byte, binary.BigEndian.Uint32(head[1:])-4)
	_, err = io.ReadFull(c.in, body)
	return head[0], body, err
}

// ready reads until the server waits for a statement, and answers what it asks for meanwhile.
func (c *connection) ready(answer func(body []byte) error) error {
	var failed error
	for {
		kind, body, err := c.receive()
		switch {
		case err != nil:
			return errors.Join(failed, err)
		case kind == 'E':
			r := &refusal{}
			for _, field := range bytes.Split(body, []byte{0}) {
				if len(field) > 0 && field[0] == 'C' {
					r.code = string(field[1:])
				} else if len(field) > 0 && field[0] == 'M' {
					r.message = string(field[1:])
				}
			}
			if answer != nil {
				return r // the server closes the connection
			}
			failed = r
		case kind == 'R' && answer != nil:
			if err := answer(body); err != nil {
				return err
			}
		case kind == 'Z':
			return failed
		}
	}
}

// run runs statements in one transaction.
func (c *connection) run(statements ...string) error {
	if err := c.send('Q', append([]byte(strings.Join(statements, ";\n")), 0)); err != nil {
		return err
	}
	return c.ready(nil)
}

// logIn proves the password, in the way that the server asks for.
func (c *connection) logIn(user, password string) error {
	random := make([]byte, 18)
	rand.Read(random)
	first := "n=,r=" + base64.StdEncoding.EncodeToString(random)
	return c.ready(func(body []byte) error {
		kind, body := binary.BigEndian.Uint32(body), body[4:]
		switch kind {
		case 0, 12: // logged in
			return nil
		case 3:
			return c.send('p', append([]byte(password), 0))
		case 5:
			return c.send('p', []byte("md5"+digest(digest(password+user)+string(body))+"\x00"))
		case 10:
			start := append([]byte("SCRAM-SHA-256\x00"), binary.BigEndian.AppendUint32(nil, uint32(len("n,,"+first)))...)
			return c.send('p', append(start, "n,,"+first...))
		case 11:
			last, err := proof(password, first, string(body))
			if err != nil {
				return err
			}
			return c.send('p', []byte(last))
		}
		return fmt.Errorf("the server wants authentication %d", kind)
	})
}

func digest(text string) string {
	sum := md5.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

// proof is the last message of SCRAM-SHA-256.
func proof(password, first, challenge string) (string, error) {
	fields := map[string]string{}
	for _, field := range strings.Split(challenge, ",") {
		key, value, _ := strings.Cut(field, "=")
		fields[key] = value
	}
	salt, err := base64.StdEncoding.DecodeString(fields["s"])
	if err != nil {
		return "", err
	}
	rounds, err := strconv.Atoi(fields["i"])
	if err != nil {
		return "", err
	}
	salted, err := pbkdf2.Key(sha256.New, password, salt, rounds, sha256.Size)
	if err != nil {
		return "", err
	}
	key := signed(salted, "Client Key")
	stored := sha256.Sum256(key)
	last := "c=biws,r=" + fields["r"]
	for i, b := range signed(stored[:], first+","+challenge+","+last) {
		key[i] ^= b
	}
	return last + ",p=" + base64.StdEncoding.EncodeToString(key), nil
}

func signed(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}
