package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"
	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/klog/v2"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	apiserveroptions "k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	controlleroptions "k8s.io/kubernetes/cmd/kube-controller-manager/app/options"
)

// cluster is a running API server with its controllers.
type cluster struct {
	kubeconfig string // file
	config     *rest.Config

	etcd     *embed.Etcd
	managers *controllerOptions
	cancel   context.CancelFunc
	done     chan error // of the servers
	count    int        // servers
}

// start starts everything in a directory, and returns when the API server is ready.
func start(ctx context.Context, dir string) (*cluster, error) {
	klog.SetOutput(io.Discard)
	klog.LogToStderr(false)
	id, err := newIdentity(dir)
	if err != nil {
		return nil, err
	}
	etcd, endpoint, err := startEtcd(dir, id)
	if err != nil {
		return nil, err
	}
	managers, err := newControllers() // before the API server, which fixes the feature gates
	if err != nil {
		etcd.Close()
		return nil, err
	}
	c := &cluster{etcd: etcd, managers: managers, done: make(chan error, 2)}
	ctx, c.cancel = context.WithCancel(ctx)
	if err := c.startServers(ctx, dir, endpoint, id); err != nil {
		c.stop()
		return nil, err
	}
	return c, nil
}

// stop ends the servers.
func (c *cluster) stop() {
	c.cancel()
	for range c.count {
		<-c.done
	}
	c.etcd.Close()
}

func (c *cluster) startServers(ctx context.Context, dir, endpoint string, id identity) error {
	key := filepath.Join(dir, "accounts.key")
	signing, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	if err := writeKey(key, signing); err != nil {
		return err
	}
	ports, err := freePorts(1)
	if err != nil {
		return err
	}
	token, port := random(), ports[0]
	tokens := filepath.Join(dir, "tokens.csv")
	if err := os.WriteFile(tokens, []byte(token+`,admin,admin,"system:masters"`+"\n"), 0o600); err != nil {
		return err
	}
	certificates := filepath.Join(dir, "certificates")
	args := []string{
		"--etcd-servers=" + endpoint, "--etcd-cafile=" + id.certificate, "--etcd-certfile=" + id.certificate, "--etcd-keyfile=" + id.key, "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", fmt.Sprint("--secure-port=", port), "--cert-dir=" + certificates,
		"--token-auth-file=" + tokens, "--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file=" + key, "--service-account-signing-key-file=" + key,
		"--authorization-mode=RBAC", "--service-cluster-ip-range=10.96.0.0/16", "--enable-priority-and-fairness=false", "--profiling=false",
		"--endpoint-reconciler-type=none", "--disable-admission-plugins=StorageObjectInUseProtection",
	}
	options := apiserveroptions.NewServerRunOptions()
	if err := parse(options.Flags(), args); err != nil {
		return err
	}
	completed, err := options.Complete(ctx)
	if err != nil {
		return err
	}
	c.serve(func() error { return apiserver.Run(ctx, completed) })
	if err := c.await(ctx, filepath.Join(certificates, "apiserver.crt"), fmt.Sprintf("https://127.0.0.1:%d", port), token); err != nil {
		return err
	}
	c.kubeconfig = filepath.Join(dir, "kubeconfig")
	if err := c.writeConfig(); err != nil {
		return err
	}
	if err := c.startControllers(ctx, key, filepath.Join(certificates, "apiserver.crt")); err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(c.config)
	if err != nil {
		return err
	}
	return startKubelet(ctx, client)
}

func (c *cluster) serve(run func() error) {
	c.count++
	go func() { c.done <- run() }()
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

func (c *cluster) startControllers(ctx context.Context, key, ca string) error {
	args := []string{
		"--kubeconfig=" + c.kubeconfig, "--service-account-private-key-file=" + key, "--root-ca-file=" + ca, "--leader-elect=false",
		"--kube-api-qps=500", "--kube-api-burst=1000", "--secure-port=0", "--use-service-account-credentials=false",
	}
	if err := parse(c.managers.flags, args); err != nil {
		return err
	}
	config, err := c.managers.Config(ctx, controllers.KnownControllers(), controllers.ControllersDisabledByDefault(), controllers.ControllerAliases())
	if err != nil {
		return err
	}
	c.serve(func() error { return controllers.Run(ctx, config.Complete()) })
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
	for limit := time.Now().Add(2 * time.Minute); time.Now().Before(limit) && ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		ca, err := os.ReadFile(certificate)
		if err != nil {
			continue
		}
		c.config = &rest.Config{Host: host, BearerToken: token, TLSClientConfig: rest.TLSClientConfig{CAData: ca}, QPS: -1}
		client, err := kubernetes.NewForConfig(c.config)
		if err != nil {
			return err
		}
		if _, err := client.RESTClient().Get().AbsPath("/readyz").DoRaw(ctx); err == nil {
			return nil
		}
	}
	return errors.New("the API server is not ready")
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
