//go:build e2e

package e2e

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestPatchedStatus sets the address of a Service of others in its status, and takes it back.
func TestPatchedStatus(t *testing.T) {
	c := connectLong(t)
	o := c.install(t, "patched status", "../testdata/behaviour/patched-status")
	services := schema.GroupVersionResource{Version: "v1", Resource: "services"}
	addresses := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "addresses"}
	theirs := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": "without-cloud"},
		"spec": map[string]any{"type": "LoadBalancer", "selector": map[string]any{"app": "none"}, "ports": []any{map[string]any{"port": int64(80)}}},
	}}
	if _, err := c.objects.Resource(services).Namespace(nsA).Create(t.Context(), theirs, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.objects.Resource(services).Namespace(nsA).Delete(context.Background(), "without-cloud", metav1.DeleteOptions{})
	})
	holds := func(want string) {
		t.Helper()
		c.await(t, "the Service with address "+want, slow, services, nsA, func(s seen) bool {
			for _, one := range s {
				ingress, _, _ := unstructured.NestedSlice(one.Object, "status", "loadBalancer", "ingress")
				if one.GetName() == "without-cloud" && want == "" {
					return len(ingress) == 0
				}
				if one.GetName() == "without-cloud" && len(ingress) == 1 {
					return ingress[0].(map[string]any)["ip"] == want
				}
			}
			return false
		})
	}
	cr := o.create(t, "example.com/v1", "addresses", nsA, "one", map[string]any{"service": "without-cloud", "ip": "10.0.0.7"})
	holds("10.0.0.7")
	o.awaitReady(t, addresses, cr)
	o.merge(t, addresses, cr, `{"spec":{"ip":"10.0.0.8"}}`)
	holds("10.0.0.8")
	if err := c.objects.Resource(addresses).Namespace(nsA).Delete(t.Context(), "one", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	holds("")
	c.await(t, "the custom resource to go", slow, addresses, nsA, func(s seen) bool { return s.by(cr.GetUID()) == nil })
}

// TestApproval approves a request for a certificate, and no other one.
func TestApproval(t *testing.T) {
	c := connectLong(t)
	c.install(t, "approval", "../testdata/behaviour/approval")
	requests := schema.GroupVersionResource{Group: "certificates.k8s.io", Version: "v1", Resource: "certificatesigningrequests"}
	create := func(name, usage string) {
		t.Helper()
		request := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest",
			"metadata": map[string]any{"name": name, "labels": map[string]any{"example.com/nodes": "yes"}},
			"spec": map[string]any{
				"signerName": "example.com/nodes", "usages": []any{usage}, "request": base64.StdEncoding.EncodeToString(certificateRequest(t)),
			},
		}}
		if _, err := c.objects.Resource(requests).Create(t.Context(), request, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.objects.Resource(requests).Delete(context.Background(), name, metav1.DeleteOptions{}) })
	}
	decided := func(one *unstructured.Unstructured) bool {
		conditions, _, _ := unstructured.NestedSlice(one.Object, "status", "conditions")
		return len(conditions) == 1 && conditions[0].(map[string]any)["type"] == "Approved" &&
			conditions[0].(map[string]any)["message"] == "for "+one.GetName()
	}
	create("server-of-others", "server auth")
	create("node-of-ours", "client auth")
	c.await(t, "the approval of one request", slow, requests, "", func(s seen) bool {
		approved := map[string]bool{}
		for _, one := range s {
			approved[one.GetName()] = decided(one)
		}
		return approved["node-of-ours"] && !approved["server-of-others"]
	})
}

// certificateRequest is a request for a certificate, as PEM.
func certificateRequest(t *testing.T) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.CertificateRequest{Subject: pkix.Name{CommonName: "node"}}
	request, err := x509.CreateCertificateRequest(rand.Reader, template, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: request})
}

// TestKeptByChoice has a child of which each custom resource says whether it stays.
func TestKeptByChoice(t *testing.T) {
	c := connectLong(t)
	o := c.install(t, "kept by choice", "../testdata/behaviour/kept-by-choice")
	stores := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "stores"}
	for name, policy := range map[string]string{"kept": "Retain", "dropped": "Delete"} {
		cr := o.create(t, "example.com/v1", "stores", nsA, name, map[string]any{"policy": policy})
		o.awaitReady(t, stores, cr)
		if err := c.objects.Resource(stores).Namespace(nsA).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		c.await(t, name+" to go", slow, stores, nsA, func(s seen) bool { return s.by(cr.GetUID()) == nil })
	}
	t.Cleanup(func() {
		_ = c.objects.Resource(configMaps).Namespace(nsA).Delete(context.Background(), "kept-data", metav1.DeleteOptions{})
	})
	c.await(t, "the child of one", slow, configMaps, nsA, func(s seen) bool {
		there := map[string]bool{}
		for _, one := range s {
			there[one.GetName()] = true
		}
		return there["kept-data"] && !there["dropped-data"]
	})
}
