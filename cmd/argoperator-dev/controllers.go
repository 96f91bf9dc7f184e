package main

import (
	"context"
	"strings"

	cliflag "k8s.io/component-base/cli/flag"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	controlleroptions "k8s.io/kubernetes/cmd/kube-controller-manager/app/options"
	"k8s.io/kubernetes/cmd/kube-controller-manager/names"
)

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
	return &controllerOptions{
		options,
		options.Flags(controllers.KnownControllers(), controllers.ControllersDisabledByDefault(), controllers.ControllerAliases()),
	}, nil
}

// lasting are the controllers that have nothing to do with workloads.
var lasting = []string{
	names.ServiceAccountTokenController, names.ServiceAccountController, names.LegacyServiceAccountTokenCleanerController,
	names.NamespaceController, names.ResourceQuotaController,
	names.ClusterRoleAggregationController, names.RootCACertificatePublisherController, names.ValidatingAdmissionPolicyStatusController,
	names.CertificateSigningRequestSigningController, names.CertificateSigningRequestApprovingController,
	names.CertificateSigningRequestCleanerController,
	names.ServiceCIDRController, names.PersistentVolumeClaimProtectionController, names.PersistentVolumeProtectionController,
}

// excluded are the controllers that do not run: those that delete Pods when a node does not
// report its status, those that look for drivers of volumes in a directory of the system,
// which they create, and the garbage collector, which c.collectGarbage runs.
var excluded = []string{
	names.NodeLifecycleController, names.TaintEvictionController, names.DeviceTaintEvictionController,
	names.PersistentVolumeAttachDetachController, names.PersistentVolumeExpanderController,
	names.GarbageCollectorController,
}

func (c *cluster) startControllers(managers *controllerOptions) error {
	enabled := strings.Join(lasting, ",")
	if c.controllers {
		enabled = "*,-" + strings.Join(excluded, ",-")
	}
	args := []string{
		"--controllers=" + enabled, "--kubeconfig=" + c.file(kubeconfig), "--service-account-private-key-file=" + c.file(accountsKey),
		"--root-ca-file=" + c.file(serverCertificate),
		"--cluster-signing-cert-file=" + c.file(clientsCertificate), "--cluster-signing-key-file=" + c.file(clientsKey),
		"--leader-elect=false", "--kube-api-qps=-1", "--secure-port=0", "--use-service-account-credentials=false",
		"--concurrent-deployment-syncs=20", "--concurrent-replicaset-syncs=20", "--concurrent-statefulset-syncs=20",
	}
	if err := parse(managers.flags, args); err != nil {
		return err
	}
	c.serve("controllers", func(ctx context.Context) error {
		config, err := managers.Config(
			ctx,
			controllers.KnownControllers(),
			controllers.ControllersDisabledByDefault(),
			controllers.ControllerAliases(),
		)
		if err != nil {
			return err
		}
		return controllers.Run(ctx, config.Complete())
	})
	return nil
}
