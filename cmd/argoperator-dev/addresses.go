package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// handleService gives a Service of type LoadBalancer the address of the node. The API
// server removes it when the type changes.
func (n *node) handleService(ctx context.Context, service *corev1.Service) error {
	if service.Spec.Type != corev1.ServiceTypeLoadBalancer || len(service.Status.LoadBalancer.Ingress) > 0 ||
		service.DeletionTimestamp != nil {
		return nil
	}
	changed := service.DeepCopy()
	changed.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: address}}
	_, err := n.client.CoreV1().Services(service.Namespace).UpdateStatus(ctx, changed, metav1.UpdateOptions{})
	return err
}

// handleIngress gives an Ingress the address of the node, whatever its class.
func (n *node) handleIngress(ctx context.Context, ingress *networkingv1.Ingress) error {
	if len(ingress.Status.LoadBalancer.Ingress) > 0 || ingress.DeletionTimestamp != nil {
		return nil
	}
	changed := ingress.DeepCopy()
	changed.Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{{IP: address}}
	_, err := n.client.NetworkingV1().Ingresses(ingress.Namespace).UpdateStatus(ctx, changed, metav1.UpdateOptions{})
	return err
}
