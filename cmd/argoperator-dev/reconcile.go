package main

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// workers is how many objects of a kind are handled at the same time.
const workers = 8

// reconcile calls handle for each object of an informer that is new or has changed, and
// again later if that fails. The group waits for the end of the context.
func reconcile[T any](
	ctx context.Context,
	group *sync.WaitGroup,
	informer cache.SharedIndexInformer,
	handle func(context.Context, T) error,
) error {
	queue := workqueue.NewTypedRateLimitingQueue(
		workqueue.NewTypedItemExponentialFailureRateLimiter[string](10*time.Millisecond, 10*time.Second),
	)
	add := func(object any) {
		if key, err := cache.MetaNamespaceKeyFunc(object); err == nil {
			queue.Add(key)
		}
	}
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    add,
		UpdateFunc: func(_, object any) { add(object) },
	}); err != nil {
		return err
	}
	context.AfterFunc(ctx, queue.ShutDown)
	for range workers {
		group.Go(func() {
			for {
				key, stop := queue.Get()
				if stop {
					return
				}
				if object, ok, err := informer.GetStore().GetByKey(key); err != nil || ok && handle(ctx, object.(T)) != nil {
					queue.AddRateLimited(key)
				} else {
					queue.Forget(key)
				}
				queue.Done(key)
			}
		})
	}
	return nil
}
