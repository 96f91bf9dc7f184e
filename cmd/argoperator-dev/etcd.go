package main

import (
	"context"
	"net/url"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.uber.org/zap"
)

// startEtcd starts etcd on localhost. Only clients with its certificate, which is in a
// directory of the user, can talk to it. It does not wait for the disk: the data is as
// short-lived as the process.
func (c *cluster) startEtcd(ctx context.Context) error {
	if err := writeAuthority("etcd", c.file(etcdCertificate), c.file(etcdKey)); err != nil {
		return err
	}
	wal.SegmentSizeBytes = 4 << 20 // the log takes twice as much from the start; 64 MB by default
	config := embed.NewConfig()
	config.Dir = c.file(data)
	anyPort := url.URL{Scheme: "https", Host: "127.0.0.1:0"}
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{anyPort}, []url.URL{anyPort}
	config.ListenPeerUrls, config.AdvertisePeerUrls = nil, []url.URL{anyPort} // there are no peers
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	config.ClientTLSInfo = transport.TLSInfo{
		CertFile: c.file(etcdCertificate), KeyFile: c.file(etcdKey), TrustedCAFile: c.file(etcdCertificate), ClientCertAuth: true,
	}
	config.UnsafeNoFsync = true
	config.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	etcd, err := embed.StartEtcd(config)
	if err != nil {
		return err
	}
	select {
	case <-etcd.Server.ReadyNotify():
		c.etcd = etcd
		c.serve("etcd", c.watchEtcd)
		return nil
	case err = <-etcd.Err():
	case <-ctx.Done():
		err = ctx.Err()
	}
	etcd.Close()
	return err
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
