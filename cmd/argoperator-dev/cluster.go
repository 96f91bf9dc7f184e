package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	cliflag "k8s.io/component-base/cli/flag"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	apiserveroptions "k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	controlleroptions "k8s.io/kubernetes/cmd/kube-controller-manager/app/options"
	"k8s.io/kubernetes/cmd/kube-controller-manager/names"
)

// options are what a user can choose about a cluster.
type options struct {
	controllers bool // run the controllers of workloads and the node
}

// cluster is a running API server with its controllers.
type cluster struct {
	kubeconfig string // file
	config     *rest.Config
	failed     chan error // has the error of the first part that failed

	endpoint string // of etcd
	etcd     *embed.Etcd
	managers *controllerOptions
	servers  []server // in the order in which they started
}

// server is a part of the cluster that runs until it is canceled.
type server struct {
	cancel context.CancelFunc
	ended  chan struct{}
}

// start starts everything in a directory, and returns when the API server is ready. The
// context limits the start only.
func start(ctx context.Context, dir string, o options) (*cluster, error) {
	c := &cluster{failed: make(chan error, 1)}
	quiet(c.fail)
	id, err := newIdentity(dir)
	if err != nil {
		return nil, err
	}
	if c.etcd, c.endpoint, err = startEtcd(ctx, dir, id); err != nil {
		return nil, err
	}
	c.serve("etcd", c.watchEtcd)
	if err := c.startServers(ctx, dir, id, o); err != nil {
		c.stop()
		return nil, err
	}
	return c, nil
}

// stop waits at most this long: for requests to end before it stops the clients that sent
// them, and for the servers.
const (
	grace    = 300 * time.Millisecond
	patience = 3 * time.Second
)

// stop ends the API server before its clients, because it logs each request that a client
// cancels, and etcd last.
func (c *cluster) stop() {
	for _, s := range c.servers {
		s.cancel()
		s.wait(grace)
	}
	limit := time.Now().Add(patience)
	for _, s := range c.servers {
		s.wait(time.Until(limit))
	}
	c.etcd.Close()
}

func (s server) wait(limit time.Duration) {
	select {
	case <-s.ended:
	case <-time.After(limit):
	}
}

// fail reports that a part of the cluster failed. Only the first error counts, as the
// others follow from it.
func (c *cluster) fail(err error) {
	select {
	case c.failed <- err:
	default:
	}
}

// serve runs a server, which must not end before its context does.
func (c *cluster) serve(name string, run func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	s := server{cancel, make(chan struct{})}
	c.servers = append(c.servers, s)
	go func() {
		defer close(s.ended)
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

// watchEtcd waits for the end of etcd, which runs by itself.
func (c *cluster) watchEtcd(ctx context.Context) error {
	select {
	case err := <-c.etcd.Err():
		return err
	case <-c.etcd.Server.StopNotify():
	case <-ctx.Done():
	}
	return nil
}

func (c *cluster) startServers(ctx context.Context, dir string, id identity, o options) error {
	var err error
	if c.managers, err = newControllers(); err != nil { // before the API server, which fixes the feature gates
		return err
	}
	accounts := filepath.Join(dir, "accounts.key")
	signing, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	if err := writeKey(accounts, signing); err != nil {
		return err
	}
	certificates := filepath.Join(dir, "certificates")
	if err := c.startServer(ctx, dir, certificates, accounts, id); err != nil {
		return err
	}
	c.kubeconfig = filepath.Join(dir, "kubeconfig")
	if err := c.writeConfig(); err != nil {
		return err
	}
	if err := c.startControllers(accounts, certificateIn(certificates), o); err != nil {
		return err
	}
	if !o.controllers {
		return nil
	}
	client, err := kubernetes.NewForConfig(c.config)
	if err != nil {
		return err
	}
	if err := register(ctx, client); err != nil {
		return fmt.Errorf("registering the node: %w", err)
	}
	c.serve("node", newKubelet(client).run)
	return nil
}

// certificateIn returns the file of the API server's certificate, which signed itself.
func certificateIn(certificates string) string {
	return filepath.Join(certificates, "apiserver.crt")
}

// startServer starts the API server, and returns when it is ready.
func (c *cluster) startServer(ctx context.Context, dir, certificates, accounts string, id identity) error {
	token, tokens := random(), filepath.Join(dir, "tokens.csv")
	if err := os.WriteFile(tokens, []byte(token+`,admin,admin,"system:masters"`+"\n"), 0o600); err != nil {
		return err
	}
	if err := os.MkdirAll(certificates, 0o700); err != nil {
		return err
	}
	options := apiserveroptions.NewServerRunOptions()
	if err := parse(options.Flags(), []string{
		"--etcd-servers=" + c.endpoint, "--etcd-cafile=" + id.certificate, "--etcd-certfile=" + id.certificate, "--etcd-keyfile=" + id.key,
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--cert-dir=" + certificates, "--endpoint-reconciler-type=none",
		"--anonymous-auth=false", "--token-auth-file=" + tokens, "--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file=" + accounts, "--service-account-signing-key-file=" + accounts,
		"--service-cluster-ip-range=10.96.0.0/16", "--enable-priority-and-fairness=false", "--profiling=false",
		"--disable-admission-plugins=StorageObjectInUseProtection",
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
	return c.await(ctx, certificateIn(certificates), "https://"+listener.Addr().String(), token)
}

// controllerOptions are the options of the controllers, and the flags that set them.
type controllerOptions struct {
	*controlleroptions.KubeControllerManagerOptions
	flags cliflag.NamedFlagSets
}

func newControllers() (*controllerOptions, error) {
	options, err := controlleroptions.NewKubeControllerManagerOptions()
	if err != nil {
		return nil, err
	}
	return &controllerOptions{options, options.Flags(controllers.KnownControllers(), controllers.ControllersDisabledByDefault(), controllers.ControllerAliases())}, nil
}

// lasting are the controllers that have nothing to do with workloads.
var lasting = []string{
	names.ServiceAccountTokenController, names.ServiceAccountController, names.LegacyServiceAccountTokenCleanerController,
	names.NamespaceController, names.GarbageCollectorController, names.ResourceQuotaController,
	names.ClusterRoleAggregationController, names.RootCACertificatePublisherController, names.ValidatingAdmissionPolicyStatusController,
	names.CertificateSigningRequestApprovingController, names.CertificateSigningRequestCleanerController, names.ServiceCIDRController,
}

// unfit are the controllers that do not fit the node: some delete Pods when a node does not
// report its status, the others look for drivers of volumes in a directory of the system,
// which they create.
var unfit = []string{
	names.NodeLifecycleController, names.TaintEvictionController, names.DeviceTaintEvictionController,
	names.PersistentVolumeAttachDetachController, names.PersistentVolumeExpanderController,
}

func (c *cluster) startControllers(accounts, ca string, o options) error {
	enabled := strings.Join(lasting, ",")
	if o.controllers {
		enabled = "*,-" + strings.Join(unfit, ",-")
	}
	args := []string{
		"--controllers=" + enabled, "--kubeconfig=" + c.kubeconfig, "--service-account-private-key-file=" + accounts, "--root-ca-file=" + ca,
		"--leader-elect=false", "--kube-api-qps=500", "--kube-api-burst=1000", "--secure-port=0", "--use-service-account-credentials=false",
	}
	if err := parse(c.managers.flags, args); err != nil {
		return err
	}
	c.serve("controllers", func(ctx context.Context) error {
		config, err := c.managers.Config(ctx, controllers.KnownControllers(), controllers.ControllersDisabledByDefault(), controllers.ControllerAliases())
		if err != nil {
			return err
		}
		return controllers.Run(ctx, config.Complete())
	})
	return nil
}

func parse(sets cliflag.NamedFlagSets, args []string) error {
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, set := range sets.FlagSets {
		all.AddFlagSet(set)
	}
	return all.Parse(args)
}

// await waits until the API server is ready.
func (c *cluster) await(ctx context.Context, certificate, host, token string) error {
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
		ca, err := os.ReadFile(certificate)
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

func (c *cluster) writeConfig() error {
	config := clientcmdapi.NewConfig()
	config.Clusters["dev"] = &clientcmdapi.Cluster{Server: c.config.Host, CertificateAuthorityData: c.config.CAData}
	config.AuthInfos["admin"] = &clientcmdapi.AuthInfo{Token: c.config.BearerToken}
	config.Contexts["dev"] = &clientcmdapi.Context{Cluster: "dev", AuthInfo: "admin"}
	config.CurrentContext = "dev"
	return clientcmd.WriteToFile(*config, c.kubeconfig)
}

func random() string {
	data := make([]byte, 16)
	_, _ = rand.Read(data) // never fails
	return hex.EncodeToString(data)
}
