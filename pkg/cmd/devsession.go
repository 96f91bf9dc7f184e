package cmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"github.com/argoperator/argoperator/pkg/internal/run/devcluster"
	"github.com/argoperator/argoperator/pkg/internal/run/page"
)

// devSession is what a dev command keeps for the next one of the same files, so that the tab of
// the browser and the shell go on with it: the port and the token of the page, and the path of
// the kubeconfig.
type devSession struct {
	Port  int    `json:"port"`
	Token string `json:"token"`

	dir      string // empty: nothing is kept
	listener net.Listener
	copied   string // the kubeconfig
}

// openDevSession listens for the page: at the given port, else at that of the last time, else at any.
// While another command has that port, this one keeps nothing.
func openDevSession(names []string, port int) (*devSession, error) {
	s := &devSession{}
	last := 0
	if dir, err := sessionDir(names); err == nil {
		s.dir = dir
		if data, err := os.ReadFile(filepath.Join(dir, "session.json")); err == nil && json.Unmarshal(data, s) == nil {
			last = s.Port
		}
	}
	var err error
	if port == 0 && last != 0 {
		if s.listener, err = page.Listen(last); err != nil {
			s.dir, s.Token = "", ""
		}
	}
	if s.listener == nil {
		if s.listener, err = page.Listen(port); err != nil {
			return nil, err
		}
	}
	if s.Token == "" {
		s.Token = page.NewToken()
	}
	address, _ := s.listener.Addr().(*net.TCPAddr)
	s.Port = address.Port
	return s, s.keep()
}

// keep writes the session for the next command.
func (s *devSession) keep() error {
	if s.dir == "" {
		return nil
	}
	data, err := json.Marshal(s)
	if err == nil {
		err = os.MkdirAll(s.dir, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(s.dir, "session.json"), data, 0o600)
	}
	if err != nil {
		s.dir = "" // a read-only home: this command works all the same
	}
	return nil
}

// sessionDir returns the directory of the session of some files.
func sessionDir(names []string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	sum := fnv.New64a()
	for _, name := range names {
		path, err := filepath.Abs(name)
		if err != nil {
			return "", err
		}
		sum.Write(fmt.Appendf(nil, "%q", path))
	}
	return filepath.Join(cache, "argoperator", fmt.Sprintf("dev-%x", sum.Sum64())), nil
}

// kubeconfig returns the path of the kubeconfig of a server, which is the same each time.
func (s *devSession) kubeconfig(server devcluster.Server) (string, error) {
	path, _ := server.Access()
	if s.dir == "" {
		return path, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("reading the kubeconfig: %w", err)
	}
	copied := filepath.Join(s.dir, "kubeconfig")
	if err := os.WriteFile(copied, data, 0o600); err != nil {
		return path, nil //nolint:nilerr // a full disk: that of the server does it, too
	}
	s.copied = copied
	return copied, nil
}

// close ends listening, and removes the kubeconfig.
func (s *devSession) close() error {
	_ = s.listener.Close() // the page has closed it
	if s.copied == "" {
		return nil
	}
	if err := os.Remove(s.copied); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
