package main

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	componentversion "k8s.io/component-base/version"
)

const (
	nodeName = "dev"

	// address is the address of the node, and of all that it exposes to the outside. It is
	// reserved for documentation, so that nothing answers there.
	address = "192.0.2.1"
)

// node does what the parts of a cluster do that need machines: scheduler and kubelet, load
// balancer and Ingress controller, and the provisioner of volumes.
type node struct {
	client  kubernetes.Interface
	classes storagelisters.StorageClassLister
	started uint32 // number of Pods that got an IP address
}

// register creates the node and the default StorageClass.
func register(ctx context.Context, client kubernetes.Interface) error {
	created, err := client.CoreV1().
		Nodes().
		Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName, Labels: map[string]string{
			corev1.LabelHostname: nodeName, corev1.LabelOSStable: "linux", corev1.LabelArchStable: runtime.GOARCH,
		}}}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("creating the node: %w", err)
	}
	created.Spec.Taints = nil // the API server adds one until a controller, which does not run, sees that the node is ready
	if created, err = client.CoreV1().Nodes().Update(ctx, created, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("letting Pods run on the node: %w", err)
	}
	created.Status = nodeStatus(metav1.Now())
	if _, err = client.CoreV1().Nodes().UpdateStatus(ctx, created, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("making the node ready: %w", err)
	}
	if _, err = client.StorageV1().StorageClasses().Create(ctx, standardClass(), metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating the StorageClass: %w", err)
	}
	return nil
}

func nodeStatus(now metav1.Time) corev1.NodeStatus {
	resources := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("1000"), corev1.ResourceMemory: resource.MustParse("1Ti"),
		corev1.ResourceEphemeralStorage: resource.MustParse("1Ti"), corev1.ResourcePods: resource.MustParse("10k"),
	}
	return corev1.NodeStatus{
		Capacity: resources, Allocatable: resources,
		Conditions: []corev1.NodeCondition{{
			Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", LastHeartbeatTime: now, LastTransitionTime: now,
		}},
		Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: address}, {Type: corev1.NodeHostName, Address: nodeName}},
		NodeInfo: corev1.NodeSystemInfo{
			KubeletVersion: componentversion.Get().GitVersion, OperatingSystem: "linux", Architecture: runtime.GOARCH,
			ContainerRuntimeVersion: "none",
		},
	}
}

// standardClass is the default StorageClass.
func standardClass() *storagev1.StorageClass {
	expandable := true
	return &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{
			Name:        "standard",
			Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"},
		},
		Provisioner:          "argoperator.dev/none",
		AllowVolumeExpansion: &expandable,
	}
}

// run handles objects until the context ends.
func (n *node) run(ctx context.Context) error {
	factory := informers.NewSharedInformerFactory(n.client, 0)
	n.classes = factory.Storage().V1().StorageClasses().Lister()
	var group sync.WaitGroup
	core := factory.Core().V1()
	for _, err := range []error{
		reconcile(ctx, &group, core.Pods().Informer(), n.handlePod),
		reconcile(ctx, &group, core.Namespaces().Informer(), n.handleNamespace),
		reconcile(ctx, &group, core.Services().Informer(), n.handleService),
		reconcile(ctx, &group, factory.Networking().V1().Ingresses().Informer(), n.handleIngress),
		reconcile(ctx, &group, core.PersistentVolumeClaims().Informer(), n.handleClaim),
		reconcile(ctx, &group, core.PersistentVolumes().Informer(), n.handleVolume),
	} {
		if err != nil {
			return err
		}
	}
	factory.Start(ctx.Done())
	group.Wait()
	factory.Shutdown()
	return nil
}
