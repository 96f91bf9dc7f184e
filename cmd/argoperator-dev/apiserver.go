package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"net"
	"os"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	cliflag "k8s.io/component-base/cli/flag"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	apiserveroptions "k8s.io/kubernetes/cmd/kube-apiserver/app/options"
)

// startAPIServer starts the API server, and returns when it is ready.
func (c *cluster) startAPIServer(ctx context.Context) error {
	token, err := c.writeCredentials()
	if err != nil {
		return err
	}
	options := apiserveroptions.NewServerRunOptions()
	if err := parse(options.Flags(), []string{
		"--etcd-servers=https://" + c.etcd.Clients[0].Addr().String(), "--etcd-cafile=" + c.file(etcdCertificate),
		"--etcd-certfile=" + c.file(etcdCertificate), "--etcd-keyfile=" + c.file(etcdKey),
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--cert-dir=" + c.file(certificates),
		"--endpoint-reconciler-type=none",
		"--anonymous-auth=false", "--token-auth-file=" + c.file(tokens), "--client-ca-file=" + c.file(clientsCertificate),
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + c.file(accountsKey), "--service-account-signing-key-file=" + c.file(accountsKey),
		"--service-cluster-ip-range=10.96.0.0/12", "--allow-privileged", "--enable-priority-and-fairness=false", "--profiling=false",
		"--kubelet-preferred-address-types=ExternalDNS", // of which the node has none, so that the API server does not look for a kubelet
	}); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	options.SecureServing.Listener, options.SecureServing.BindPort = listener, listener.Addr().(*net.TCPAddr).Port
	c.serve("API server", func(ctx context.Context) error {
		completed, err := options.Complete(ctx)
		if err != nil {
			return err
		}
		return apiserver.Run(ctx, completed)
	})
	return c.await(ctx, "https://"+listener.Addr().String(), token)
}

// writeCredentials writes what the API server reads, and returns the token of the user.
func (c *cluster) writeCredentials() (string, error) {
	if err := newKey(c.file(accountsKey)); err != nil {
		return "", err
	}
	if err := writeAuthority("clients", c.file(clientsCertificate), c.file(clientsKey)); err != nil {
		return "", err
	}
	if err := os.MkdirAll(c.file(certificates), 0o700); err != nil {
		return "", err
	}
	token := random()
	return token, os.WriteFile(c.file(tokens), []byte(token+`,admin,admin,"system:masters"`+"\n"), 0o600)
}

func random() string {
	data := make([]byte, 16)
	_, _ = rand.Read(data) // never fails
	return hex.EncodeToString(data)
}

// await waits until the API server is ready.
func (c *cluster) await(ctx context.Context, host, token string) error {
	limit := time.After(2 * time.Minute)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-c.failed:
			return err
		case <-limit:
			return errors.New("the API server is not ready")
		case <-time.After(20 * time.Millisecond):
		}
		ca, err := os.ReadFile(c.file(serverCertificate))
		if err != nil {
			continue // the API server has not written it yet
		}
		c.config = &rest.Config{Host: host, BearerToken: token, TLSClientConfig: rest.TLSClientConfig{CAData: ca}, QPS: -1}
		client, err := kubernetes.NewForConfig(c.config)
		if err != nil {
			continue // as above, of a part of it
		}
		if _, err := client.RESTClient().Get().AbsPath("/readyz").DoRaw(ctx); err == nil {
			return nil
		}
	}
}

func parse(sets cliflag.NamedFlagSets, args []string) error {
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, set := range sets.FlagSets {
		all.AddFlagSet(set)
	}
	return all.Parse(args)
}
