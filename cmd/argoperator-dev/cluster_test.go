package main

import (
	"context"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

var (
	crds        = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	widgets     = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
)

type object = map[string]any

// TestCluster uses one cluster for what users do with it.
func TestCluster(t *testing.T) {
	c, err := start(t.Context(), t.TempDir(), options{controllers: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.stop()
	client, err := dynamic.NewForConfig(c.config)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("a Deployment becomes available", func(t *testing.T) { deploys(t, client) })
	typed, err := kubernetes.NewForConfig(c.config)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("workloads", workloads{typed, "workloads"}.test)
	t.Run("a custom resource is validated, gets defaults, and owns objects", func(t *testing.T) { custom(t, client) })
	t.Run("an account without permissions is refused", func(t *testing.T) { refused(t, c.config) })
	t.Run("a request without a token is refused", func(t *testing.T) { anonymous(t, c.config) })
	t.Run("etcd refuses a client without a certificate", func(t *testing.T) { withoutCertificate(t, c.etcd.Clients[0].Addr().String(), c.file(etcdCertificate)) })
	t.Run("only the user can read keys", func(t *testing.T) { private(t, c.dir) })
	t.Run("the end of etcd is an error", func(t *testing.T) { // the last one
		c.etcd.Server.HardStop()
		if err := <-c.failed; !strings.HasPrefix(err.Error(), "etcd: ") {
			t.Error(err)
		}
	})
}

// eventually waits until a condition is met.
func TestServe(t *testing.T) {
	for _, run := range []func(context.Context) error{
		func(ctx context.Context) error { <-ctx.Done(); panic("canceled while it starts") },
		func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
	} {
		c := &cluster{failed: make(chan error, 1)}
		c.serve("server", run)
		c.servers[0].cancel()
		<-c.servers[0].ended
		if len(c.failed) > 0 {
			t.Errorf("a server that was canceled failed: %v", <-c.failed)
		}
	}
	c := &cluster{failed: make(chan error, 1)}
	c.serve("server", func(context.Context) error { return nil })
	if err := <-c.failed; err == nil || err.Error() != "server: ended" {
		t.Errorf("a server that ends before it is canceled: %v", err)
	}
}

func eventually(t *testing.T, what string, met func(context.Context) bool) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); !met(t.Context()); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("timeout: %s", what)
		}
	}
}

func deploys(t *testing.T, client dynamic.Interface) {
	d := &unstructured.Unstructured{Object: object{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": object{"name": "web"},
		"spec": object{
			"replicas": int64(2), "selector": object{"matchLabels": object{"app": "web"}},
			"template": object{"metadata": object{"labels": object{"app": "web"}}, "spec": object{"containers": []any{object{"name": "web", "image": "web"}}}},
		},
	}}
	in := client.Resource(deployments).Namespace("default")
	if _, err := in.Apply(t.Context(), "web", d, metav1.ApplyOptions{FieldManager: "test"}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "two replicas are available", func(ctx context.Context) bool {
		d, err := in.Get(ctx, "web", metav1.GetOptions{})
		if err != nil {
			return false
		}
		available, _, _ := unstructured.NestedInt64(d.Object, "status", "availableReplicas")
		return available == 2
	})
	if err := in.Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the Pods are collected", func(ctx context.Context) bool {
		pods, err := client.Resource(corev1.SchemeGroupVersion.WithResource("pods")).Namespace("default").List(ctx, metav1.ListOptions{})
		return err == nil && len(pods.Items) == 0
	})
}

func custom(t *testing.T, client dynamic.Interface) {
	crd := &unstructured.Unstructured{Object: object{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": object{"name": "widgets.example.com"},
		"spec": object{
			"group": "example.com", "scope": "Namespaced", "names": object{"plural": "widgets", "kind": "Widget"},
			"versions": []any{object{
				"name": "v1", "served": true, "storage": true,
				"schema": object{"openAPIV3Schema": object{"type": "object", "properties": object{"spec": object{
					"type": "object", "properties": object{"size": object{"type": "integer", "default": int64(3)}},
					"x-kubernetes-validations": []any{object{"rule": "self.size < 10", "message": "too large"}},
				}}}},
			}},
		},
	}}
	if _, err := client.Resource(crds).Create(t.Context(), crd, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	widget := func(spec object) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: object{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": object{"name": "a"}, "spec": spec}}
	}
	in := client.Resource(widgets).Namespace("default")
	eventually(t, "the kind is served", func(ctx context.Context) bool {
		_, err := in.List(ctx, metav1.ListOptions{})
		return err == nil
	})
	if _, err := in.Create(t.Context(), widget(object{"size": int64(10)}), metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
		t.Errorf("a widget that is too large: %v, want Invalid", err)
	}
	created, err := in.Apply(t.Context(), "a", widget(object{}), metav1.ApplyOptions{FieldManager: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if size, _, _ := unstructured.NestedInt64(created.Object, "spec", "size"); size != 3 {
		t.Errorf("size %d, want the default 3", size)
	}
	collected(t, client, created)
}

// collected deletes an owner of a new kind.
func collected(t *testing.T, client dynamic.Interface, owner *unstructured.Unstructured) {
	child := &unstructured.Unstructured{Object: object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": "child"}}}
	child.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(owner, owner.GroupVersionKind())})
	children := client.Resource(corev1.SchemeGroupVersion.WithResource("configmaps")).Namespace("default")
	if _, err := children.Create(t.Context(), child, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := client.Resource(widgets).Namespace("default").Delete(t.Context(), owner.GetName(), metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the child is collected", func(ctx context.Context) bool {
		_, err := children.Get(ctx, "child", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}

func refused(t *testing.T, admin *rest.Config) {
	config := rest.CopyConfig(admin)
	config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:default:web"}
	as, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := as.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Fatalf("without a role: %v, want Forbidden", err)
	}
	all, err := kubernetes.NewForConfig(admin)
	if err != nil {
		t.Fatal(err)
	}
	role := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "web"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "default", Name: "web"}},
	}
	if _, err := all.RbacV1().RoleBindings("default").Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the role is effective", func(ctx context.Context) bool {
		_, err := as.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{})
		return err == nil
	})
}

func anonymous(t *testing.T, admin *rest.Config) {
	client, err := kubernetes.NewForConfig(rest.AnonymousClientConfig(admin))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/api", "/version", "/readyz", "/metrics"} {
		if _, err := client.RESTClient().Get().AbsPath(path).DoRaw(t.Context()); !apierrors.IsUnauthorized(err) {
			t.Errorf("%s: %v, want Unauthorized", path, err)
		}
	}
}

func withoutCertificate(t *testing.T, endpoint, ca string) {
	tls, err := transport.TLSInfo{TrustedCAFile: ca}.ClientConfig()
	if err != nil {
		t.Fatal(err)
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}, TLS: tls, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if _, err := client.Get(ctx, "/", clientv3.WithPrefix(), clientv3.WithKeysOnly()); err == nil {
		t.Error("etcd answered")
	}
}

// private allows others to read certificates, which are public.
func private(t *testing.T, dir string) {
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Mode()&0o077 != 0 && filepath.Ext(path) != ".crt" {
			t.Errorf("%s has mode %s", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
