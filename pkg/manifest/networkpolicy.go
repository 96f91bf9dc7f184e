package manifest

import (
	eventsv1 "github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/argoperator/argoperator/pkg/apis/v1alpha1"
	"github.com/argoperator/argoperator/pkg/internal/operator/plan"
)

// Ports of the servers of an EventBus, and of all pods of Argo Events.
var (
	clientPort  = intstr.FromInt32(4222)
	serverPort  = intstr.FromInt32(6222)
	monitorPort = intstr.FromInt32(8222)
	metricsPort = intstr.FromInt32(v1alpha1.MetricsPort)
	tcp         = corev1.ProtocolTCP

	fromAnybody []networkingv1.NetworkPolicyPeer
)

// networkPolicies allow access to the event bus only for pods of Argo Events, and to
// the operator's own pods only for metrics.
func networkPolicies(p *plan.Plan) []Object {
	if !p.Shared.NetworkPolicies {
		return nil
	}
	argoEvents := fromPods(metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
		Key: "controller", Operator: metav1.LabelSelectorOpIn, Values: []string{"eventsource-controller", "sensor-controller"},
	}}})
	bus := metav1.LabelSelector{
		MatchLabels: map[string]string{"controller": "eventbus-controller", eventsv1.LabelOwnerName: p.Shared.EventBus.Name},
	}
	list := []Object{
		ingress(p, p.Operator.Name, metav1.LabelSelector{MatchLabels: p.Operator.Labels}, allow(fromAnybody, metricsPort)),
		ingress(p, p.Operator.Name+"-eventbus", bus,
			allow(argoEvents, clientPort), allow(fromPods(bus), clientPort, serverPort, monitorPort), allow(fromAnybody, metricsPort)),
	}
	for _, name := range p.Workers() {
		worker := metav1.LabelSelector{MatchLabels: workerLabels(name)}
		senders := fromPods(worker) // one that stands by passes events on
		for _, sensor := range p.Sensors {
			senders = append(senders, fromPods(metav1.LabelSelector{MatchLabels: map[string]string{
				"controller": "sensor-controller", eventsv1.LabelSensorName: sensor.Name,
			}})...)
		}
		list = append(list, ingress(p, name, worker, allow(senders, eventsPort)))
	}
	return list
}

func ingress(p *plan.Plan, name string, to metav1.LabelSelector, rules ...networkingv1.NetworkPolicyIngressRule) Object {
	return &networkingv1.NetworkPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: networkingv1.SchemeGroupVersion.String(), Kind: "NetworkPolicy"},
		ObjectMeta: meta(p, name),
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: to, Ingress: rules, PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
		},
	}
}

func fromPods(selector metav1.LabelSelector) []networkingv1.NetworkPolicyPeer {
	return []networkingv1.NetworkPolicyPeer{{PodSelector: &selector}}
}

func allow(from []networkingv1.NetworkPolicyPeer, ports ...intstr.IntOrString) networkingv1.NetworkPolicyIngressRule {
	rule := networkingv1.NetworkPolicyIngressRule{From: from}
	for _, port := range ports {
		rule.Ports = append(rule.Ports, networkingv1.NetworkPolicyPort{Protocol: &tcp, Port: &port})
	}
	return rule
}
