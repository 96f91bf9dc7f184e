package live

import (
	"context"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
	"github.com/argoperator/argoperator/pkg/internal/run/simulate"
)

// informer lists and watches a resource.
type informer struct {
	cache.SharedIndexInformer
	resource schema.GroupResource
}

// source selects what an informer lists and watches.
type source struct {
	client    dynamic.Interface
	resource  schema.GroupVersionResource
	namespace string // empty: all
	selector  labels.Selector
}

// newInformer starts an informer. changed is called for one change after the other, failed
// for each list or watch that fails.
func newInformer(ctx context.Context, s source, changed func(cluster.Change), failed func(error)) (*informer, error) {
	in := s.client.Resource(s.resource).Namespace(s.namespace)
	selector := ""
	if s.selector != nil {
		selector = s.selector.String()
	}
	listWatch := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.LabelSelector = selector
			return in.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (apiwatch.Interface, error) {
			o.LabelSelector = selector
			return in.Watch(ctx, o)
		},
	}
	out := &informer{cache.NewSharedIndexInformer(listWatch, &unstructured.Unstructured{}, 0, cache.Indexers{}), s.resource.GroupResource()}
	tell := func(before, after any) {
		change := cluster.Change{Resource: out.resource}
		change.Old, _ = before.(*unstructured.Unstructured)
		change.New, _ = after.(*unstructured.Unstructured)
		if change.Object() != nil {
			changed(change)
		}
	}
	if _, err := out.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { tell(nil, o) },
		UpdateFunc: tell,
		DeleteFunc: func(o any) {
			if unknown, ok := o.(cache.DeletedFinalStateUnknown); ok {
				o = unknown.Obj
			}
			tell(o, nil)
		},
	}); err != nil {
		return nil, err
	}
	if err := out.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) { failed(err) }); err != nil {
		return nil, err
	}
	go out.RunWithContext(ctx)
	return out, nil
}

// changes returns a creation for each object that exists.
func (i *informer) changes() []cluster.Change {
	var out []cluster.Change
	for _, o := range i.GetStore().List() {
		if o, ok := o.(*unstructured.Unstructured); ok {
			out = append(out, cluster.Change{Resource: i.resource, New: o})
		}
	}
	return out
}

// as returns a client with the identity of a service account, NAMESPACE/NAME.
func (l *Live) as(account string) (dynamic.Interface, error) {
	namespace, name, _ := strings.Cut(account, "/")
	config := rest.CopyConfig(l.in.Server)
	config.Impersonate = rest.ImpersonationConfig{UserName: serviceaccount.MakeUsername(namespace, name), Groups: groupsOf(namespace)}
	return dynamic.NewForConfig(config)
}

// watch starts one list and watch of an EventSource, with its service account.
func (g *generation) watch(w simulate.Watch) error {
	client, err := g.as(w.Account)
	if err != nil {
		return err
	}
	var once sync.Once // a permission that is missing fails again and again
	failed := func(err error) {
		if g.ctx.Err() == nil {
			once.Do(func() { g.note(StateFailed, "EventSource "+w.Source+": "+err.Error()) })
		}
	}
	changed := func(c cluster.Change) {
		if e, ok := w.EventFor(c); ok && g.ctx.Err() == nil {
			g.publish(e)
		}
	}
	i, err := newInformer(g.ctx, source{client, w.Resource, w.Namespace, w.Selector}, changed, failed)
	if err != nil {
		return err
	}
	g.mu.Lock()
	g.informers = append(g.informers, i)
	g.watches = append(g.watches, w)
	g.mu.Unlock()
	return nil
}

// relist publishes an event for every existing object.
func (g *generation) relist() {
	g.mu.Lock()
	informers, watches := g.informers, g.watches
	g.mu.Unlock()
	for n, i := range informers {
		for _, change := range i.changes() {
			if e, ok := watches[n].EventFor(change); ok {
				g.publish(e)
			}
		}
	}
}

// identity names an object.
func identity(o *unstructured.Unstructured) Object {
	return Object{Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName(), UID: string(o.GetUID())}
}

func groupKindOf(o *unstructured.Unstructured) schema.GroupKind {
	return o.GroupVersionKind().GroupKind()
}
