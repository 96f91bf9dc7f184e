package main

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
)

// startEtcd starts etcd on localhost. Only clients with its certificate, which is in a
// directory of the user, can talk to it. It does not wait for the disk: the data is as
// short-lived as the process.
func startEtcd(dir string, id identity) (etcd *embed.Etcd, endpoint string, err error) {
	config := embed.NewConfig()
	config.Dir = filepath.Join(dir, "etcd")
	ports, err := freePorts(2)
	if err != nil {
		return nil, "", err
	}
	address := func(port int) url.URL { return url.URL{Scheme: "https", Host: fmt.Sprintf("127.0.0.1:%d", port)} }
	client, peer := address(ports[0]), address(ports[1])
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	mutual := transport.TLSInfo{CertFile: id.certificate, KeyFile: id.key, TrustedCAFile: id.certificate, ClientCertAuth: true}
	config.ClientTLSInfo, config.PeerTLSInfo = mutual, mutual
	config.UnsafeNoFsync = true
	config.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	etcd, err = embed.StartEtcd(config)
	if err != nil {
		return nil, "", fmt.Errorf("starting etcd: %w", err)
	}
	select {
	case <-etcd.Server.ReadyNotify():
		return etcd, client.String(), nil
	case err := <-etcd.Err():
		etcd.Close()
		return nil, "", fmt.Errorf("starting etcd: %w", err)
	case <-time.After(time.Minute):
		etcd.Close()
		return nil, "", errors.New("etcd does not start")
	}
}

// freePorts returns ports of localhost that nothing listens on.
func freePorts(n int) ([]int, error) {
	var out []int
	for range n {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer listener.Close()
		out = append(out, listener.Addr().(*net.TCPAddr).Port)
	}
	return out, nil
}
