package main

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/restmapper"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
)

// refresh is how often the garbage collector looks for new kinds. The controller manager
// does so every 30 seconds, and until then the children of a custom resource of a new kind
// outlive it.
const refresh = time.Second

// collectGarbage runs the garbage collector until the context ends.
func (c *cluster) collectGarbage(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(c.config)
	if err != nil {
		return err
	}
	objects, err := metadata.NewForConfig(c.config)
	if err != nil {
		return err
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery()))
	factory := metadatainformer.NewSharedInformerFactoryWithOptions(objects, 0, metadatainformer.WithTransform(withoutManagedFields))
	started := make(chan struct{})
	close(started)
	collector, err := garbagecollector.NewGarbageCollector(
		ctx,
		client,
		objects,
		mapper,
		garbagecollector.DefaultIgnoredResources(),
		informersOf{factory},
		started,
	)
	if err != nil {
		return err
	}
	go collector.Sync(ctx, client.Discovery(), refresh)
	collector.Run(ctx, 20, 30*time.Second)
	return nil
}

// informersOf are informers of metadata, which is all that the garbage collector needs.
type informersOf struct {
	metadatainformer.SharedInformerFactory
}

// ForResource is what the garbage collector calls.
func (i informersOf) ForResource(resource schema.GroupVersionResource) (informers.GenericInformer, error) {
	return i.SharedInformerFactory.ForResource(resource), nil
}

// withoutManagedFields saves most of the memory that metadata takes.
func withoutManagedFields(object any) (any, error) {
	if o, ok := object.(metav1.Object); ok {
		o.SetManagedFields(nil)
	}
	return object, nil
}
