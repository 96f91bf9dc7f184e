package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// options are what a user can choose about a cluster.
type options struct {
	controllers bool // run the controllers of workloads and the node
}

// cluster is a running API server with its controllers.
type cluster struct {
	options
	dir     string
	config  *rest.Config
	failed  chan error // has the error of the first part that failed
	etcd    *embed.Etcd
	servers []server
}

// Files in the directory of the cluster.
const (
	kubeconfig         = "kubeconfig"
	tokens             = "tokens.csv"
	accountsKey        = "accounts.key" // signs tokens of ServiceAccounts
	etcdCertificate    = "etcd.crt"
	etcdKey            = "etcd.key"
	clientsCertificate = "clients.crt" // signs certificates of clients of the API server
	clientsKey         = "clients.key"
	data               = "etcd"
	certificates       = "certificates" // directory of the API server, which signs its own certificate
	serverCertificate  = certificates + "/apiserver.crt"
)

func (c *cluster) file(name string) string {
	return filepath.Join(c.dir, filepath.FromSlash(name))
}

// server is a part of the cluster that runs until it is canceled.
type server struct {
	cancel context.CancelFunc
	ended  chan struct{}
}

// start starts everything in a directory, and returns when the API server is ready. The
// context limits the start only.
func start(ctx context.Context, dir string, o options) (*cluster, error) {
	c := &cluster{options: o, dir: dir, failed: make(chan error, 1)}
	quiet(c.fail)
	if err := os.Mkdir(c.file(data), 0o700); err != nil { // fails if another cluster used the directory
		return nil, err
	}
	if err := c.startEtcd(ctx); err != nil {
		return nil, fmt.Errorf("starting etcd: %w", err)
	}
	if err := c.startServers(ctx); err != nil {
		c.stop()
		return nil, err
	}
	return c, nil
}

func (c *cluster) startServers(ctx context.Context) error {
	managers, err := newControllers() // before the API server, which fixes the feature gates
	if err != nil {
		return err
	}
	if err := c.startAPIServer(ctx); err != nil {
		return fmt.Errorf("starting the API server: %w", err)
	}
	if err := c.writeConfig(); err != nil {
		return err
	}
	if err := c.startControllers(managers); err != nil {
		return err
	}
	c.serve("garbage collector", c.collectGarbage)
	if !c.controllers {
		return nil
	}
	config := rest.CopyConfig(c.config)
	config.ContentType = runtime.ContentTypeProtobuf // is faster than JSON
	config.UserAgent = "kubelet"                     // field manager of the status of Pods
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	if err := register(ctx, client); err != nil {
		return err
	}
	c.serve("node", (&node{client: client}).run)
	return nil
}

// patience is how long stop waits for the servers.
const patience = 3 * time.Second

// stop ends the servers, and then etcd.
func (c *cluster) stop() {
	for _, s := range c.servers {
		s.cancel()
	}
	limit, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, s := range c.servers {
		select {
		case <-s.ended:
		case <-limit.Done():
		}
	}
	c.etcd.Close()
}

// fail reports that a part of the cluster failed. Only the first error counts, as the
// others follow from it.
func (c *cluster) fail(err error) {
	select {
	case c.failed <- err:
	default:
	}
}

// serve runs a server, which must not end before its context does. After that it may end in
// any way: controllers that are canceled while they start panic, as their informers have
// stopped.
func (c *cluster) serve(name string, run func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	s := server{cancel, make(chan struct{})}
	c.servers = append(c.servers, s)
	go func() {
		defer close(s.ended)
		defer func() {
			if ctx.Err() != nil {
				_ = recover()
			}
		}()
		err := run(ctx)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			err = errors.New("ended")
		}
		c.fail(fmt.Errorf("%s: %w", name, err))
	}()
}

func (c *cluster) writeConfig() error {
	config := clientcmdapi.NewConfig()
	config.Clusters["dev"] = &clientcmdapi.Cluster{Server: c.config.Host, CertificateAuthorityData: c.config.CAData}
	config.AuthInfos["admin"] = &clientcmdapi.AuthInfo{Token: c.config.BearerToken}
	config.Contexts["dev"] = &clientcmdapi.Context{Cluster: "dev", AuthInfo: "admin"}
	config.CurrentContext = "dev"
	return clientcmd.WriteToFile(*config, c.file(kubeconfig))
}
