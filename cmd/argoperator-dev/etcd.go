package main

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
)

// startEtcd starts etcd on localhost. Only clients with its certificate, which is in a
// directory of the user, can talk to it. It does not wait for the disk: the data is as
// short-lived as the process.
func startEtcd(ctx context.Context, dir string, id identity) (etcd *embed.Etcd, endpoint string, err error) {
	config := embed.NewConfig()
	config.Dir = filepath.Join(dir, "etcd")
	anyPort := url.URL{Scheme: "https", Host: "127.0.0.1:0"}
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{anyPort}, []url.URL{anyPort}
	config.ListenPeerUrls, config.AdvertisePeerUrls = nil, []url.URL{anyPort} // there are no peers
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	config.ClientTLSInfo = transport.TLSInfo{CertFile: id.certificate, KeyFile: id.key, TrustedCAFile: id.certificate, ClientCertAuth: true}
	config.UnsafeNoFsync = true
	config.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	etcd, err = embed.StartEtcd(config)
	if err != nil {
		return nil, "", fmt.Errorf("starting etcd: %w", err)
	}
	select {
	case <-etcd.Server.ReadyNotify():
		return etcd, "https://" + etcd.Clients[0].Addr().String(), nil
	case err = <-etcd.Err():
	case <-ctx.Done():
		err = ctx.Err()
	}
	etcd.Close()
	return nil, "", fmt.Errorf("starting etcd: %w", err)
}
