package apiserver

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/argoperator/argoperator/pkg/internal/kube/cluster"
)

// changeLog has the last changes of the cluster, for watches.
type changeLog struct {
	mu      sync.Mutex
	changes []change
	dropped int           // version of the last change that it no longer has
	more    chan struct{} // closed when there is another change
}

// change is a change with the version that it made.
type change struct {
	cluster.Change
	version int
}

// kept is how many changes a watch may be behind.
const kept = 10_000

func (l *changeLog) add(changes []cluster.Change) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range changes {
		l.changes = append(l.changes, change{c, versionOf(c.Object())})
	}
	if n := len(l.changes) - kept; n > 0 {
		l.dropped = l.changes[n-1].version
		l.changes = slices.Clone(l.changes[n:])
	}
	close(l.more)
	l.more = make(chan struct{})
}

// after returns the changes after a version, and what is closed when there are more; false: it
// no longer has all of them.
func (l *changeLog) after(version int) ([]change, <-chan struct{}, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if version < l.dropped {
		return nil, nil, false
	}
	at, _ := slices.BinarySearchFunc(l.changes, version+1, func(c change, v int) int { return c.version - v })
	return l.changes[at:], l.more, true
}

func versionOf(o cluster.Object) int {
	version, _ := strconv.Atoi(o.GetResourceVersion())
	return version
}

// watcher is one watch of a client.
type watcher struct {
	server    *Server
	out       http.ResponseWriter
	kind      cluster.Kind
	namespace string
	labels    labels.Selector
	fields    fields.Selector
	table     bool
}

// watch sends the changes of objects until the client goes away.
func (s *Server) watch(out http.ResponseWriter, r *http.Request, asked url.Values) {
	w := watcher{server: s, out: out, table: wantsTable(r)}
	since, initial, err := w.read(r, asked)
	if err != nil {
		refuse(out, err)
		return
	}
	out.Header().Set("Content-Type", "application/json")
	out.WriteHeader(http.StatusOK)
	for _, o := range initial {
		w.send(watch.Added, o)
	}
	if asked.Get("sendInitialEvents") == "true" {
		w.bookmark(since)
	}
	w.flush()
	ctx := r.Context()
	if seconds, err := strconv.Atoi(asked.Get("timeoutSeconds")); err == nil {
		limited, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
		defer cancel()
		ctx = limited
	}
	for {
		changes, more, ok := s.log.after(since)
		if !ok {
			expired := apierrors.NewResourceExpired("too old resource version: " + strconv.Itoa(since))
			w.encode(watch.Error, expired.Status())
			return
		}
		for _, c := range changes {
			w.change(c)
			since = c.version
		}
		w.flush()
		select {
		case <-more:
		case <-ctx.Done():
			return
		case <-s.ended:
			return
		}
	}
}

// read reads what is watched: from which version on, and the objects that are sent before.
func (w *watcher) read(r *http.Request, asked url.Values) (since int, initial []cluster.Object, err error) {
	if w.labels, err = labels.Parse(asked.Get("labelSelector")); err != nil {
		return 0, nil, apierrors.NewBadRequest(err.Error())
	}
	if w.fields, err = fields.ParseSelector(asked.Get("fieldSelector")); err != nil {
		return 0, nil, apierrors.NewBadRequest(err.Error())
	}
	c := w.server.cluster
	c.Mu.Lock()
	defer c.Mu.Unlock()
	req, err := c.Parse(r, nil)
	if err != nil {
		return 0, nil, err
	}
	w.kind, w.namespace = req.Kind, req.Namespace
	if req.Name != "" {
		return 0, nil, apierrors.NewBadRequest("watch a collection, with a field selector for the name")
	}
	if since, err := strconv.Atoi(asked.Get("resourceVersion")); err == nil && since > 0 && asked.Get("sendInitialEvents") != "true" {
		return since, nil, nil
	}
	for _, o := range c.List(w.kind.Resource(), w.namespace) {
		if w.wants(o) {
			initial = append(initial, o)
		}
	}
	return c.Version(), initial, nil
}

func (w *watcher) wants(o cluster.Object) bool {
	return o != nil && (w.namespace == "" || o.GetNamespace() == w.namespace) &&
		w.labels.Matches(labels.Set(o.GetLabels())) && w.fields.Matches(cluster.Fields{Object: o})
}

// change sends a change, if it is one of what is watched.
func (w *watcher) change(c change) {
	if c.Resource != w.kind.Resource() {
		return
	}
	before, after := w.wants(c.Old), w.wants(c.New)
	switch {
	case before && after:
		w.send(watch.Modified, c.New)
	case after:
		w.send(watch.Added, c.New)
	case before && c.New != nil: // it is not selected any more
		gone := c.Old.DeepCopy()
		gone.SetResourceVersion(c.New.GetResourceVersion())
		w.send(watch.Deleted, gone)
	case before:
		w.send(watch.Deleted, c.Old)
	}
}

func (w *watcher) send(event watch.EventType, o cluster.Object) {
	if o.GroupVersionKind().Version != w.kind.Version {
		c := w.server.cluster
		c.Mu.Lock()
		o = c.InVersion(o, w.kind)
		c.Mu.Unlock()
	}
	if !w.table {
		w.encode(event, o.Object)
		return
	}
	if table, err := w.server.table(o); err == nil {
		w.encode(event, table)
	}
}

// bookmark tells that the objects that were there are all sent.
func (w *watcher) bookmark(version int) {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(w.kind.GroupVersionKind)
	o.SetResourceVersion(strconv.Itoa(version))
	o.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	w.encode(watch.Bookmark, o.Object)
}

func (w *watcher) encode(event watch.EventType, object any) {
	_ = json.NewEncoder(w.out).Encode(map[string]any{"type": event, "object": object}) // the client may have disconnected
}

func (w *watcher) flush() {
	if f, ok := w.out.(http.Flusher); ok {
		f.Flush()
	}
}
