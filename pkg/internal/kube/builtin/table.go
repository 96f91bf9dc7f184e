package builtin

import (
	"reflect"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// place is a field of a type, by its name in JSON.
type place struct {
	of   reflect.Type
	name string
}

func in[T any](name string) place { return place{reflect.TypeFor[T](), name} }

// rules are the rules for single fields. To add one, add a line; rules that compare
// fields are in rulesOf.
func rules() map[place][]check {
	serverSideApply := func(fields ...string) check { return distinct(nil, fields...) }
	protocols := among("TCP", "UDP", "SCTP")
	return map[place][]check{
		in[appsv1.ControllerRevision]("revision"):                                 {from(0)},
		in[appsv1.DeploymentSpec]("minReadySeconds"):                              {from(0)},
		in[appsv1.DeploymentSpec]("progressDeadlineSeconds"):                      {from(0)},
		in[appsv1.DeploymentSpec]("revisionHistoryLimit"):                         {from(0)},
		in[appsv1.DeploymentStrategy]("type"):                                     {among("RollingUpdate", "Recreate")},
		in[appsv1.RollingUpdateDeployment]("maxSurge"):                            {share(false)},
		in[appsv1.RollingUpdateDeployment]("maxUnavailable"):                      {share(true)},
		in[appsv1.DaemonSetSpec]("minReadySeconds"):                               {from(0)},
		in[appsv1.DaemonSetSpec]("revisionHistoryLimit"):                          {from(0)},
		in[appsv1.DaemonSetUpdateStrategy]("type"):                                {among("RollingUpdate", "OnDelete")},
		in[appsv1.RollingUpdateDaemonSet]("maxSurge"):                             {share(true)},
		in[appsv1.RollingUpdateDaemonSet]("maxUnavailable"):                       {share(true)},
		in[appsv1.ReplicaSetSpec]("minReadySeconds"):                              {from(0)},
		in[appsv1.StatefulSetSpec]("minReadySeconds"):                             {from(0)},
		in[appsv1.StatefulSetSpec]("podManagementPolicy"):                         {among("OrderedReady", "Parallel")},
		in[appsv1.StatefulSetSpec]("serviceName"):                                 {form(label)},
		in[appsv1.StatefulSetUpdateStrategy]("type"):                              {among("RollingUpdate", "OnDelete")},
		in[appsv1.RollingUpdateStatefulSetStrategy]("partition"):                  {from(0)},
		in[appsv1.StatefulSetOrdinals]("start"):                                   {from(0)},
		in[appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy]("whenDeleted"): {among("Retain", "Delete")},
		in[appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy]("whenScaled"):  {among("Retain", "Delete")},
		in[batchv1.JobSpec]("activeDeadlineSeconds"):                              {from(0)},
		in[batchv1.JobSpec]("backoffLimit"):                                       {from(0)},
		in[batchv1.JobSpec]("backoffLimitPerIndex"):                               {from(0)},
		in[batchv1.JobSpec]("completionMode"):                                     {among("NonIndexed", "Indexed")},
		in[batchv1.JobSpec]("completions"):                                        {from(0)},
		in[batchv1.JobSpec]("managedBy"):                                          {form(domainPath), form(longest(63))},
		in[batchv1.JobSpec]("maxFailedIndexes"):                                   {from(0)},
		in[batchv1.JobSpec]("parallelism"):                                        {from(0)},
		in[batchv1.JobSpec]("ttlSecondsAfterFinished"):                            {from(0)},
		in[batchv1.PodFailurePolicyRule]("action"): {
			needed,
			among("Count", "FailIndex", "FailJob", "Ignore"),
		},
		in[batchv1.PodFailurePolicyOnExitCodesRequirement]("operator"): {needed, among("In", "NotIn")},
		in[batchv1.PodFailurePolicyOnExitCodesRequirement]("values"):   {needed, differ},
		in[batchv1.PodFailurePolicyOnPodConditionsPattern]("type"):     {always(validation.IsQualifiedName)},
		in[batchv1.CronJobSpec]("concurrencyPolicy"):                   {among("Allow", "Forbid", "Replace")},
		in[batchv1.CronJobSpec]("failedJobsHistoryLimit"):              {from(0)},
		in[batchv1.CronJobSpec]("startingDeadlineSeconds"):             {from(0)},
		in[batchv1.CronJobSpec]("successfulJobsHistoryLimit"):          {from(0)},
		in[corev1.PodSpec]("activeDeadlineSeconds"):                    {between(1, 1<<31-1)},
		in[corev1.PodSpec]("containers"):                               {needed},
		in[corev1.PodSpec]("dnsPolicy"): {
			among("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"),
		},
		in[corev1.PodSpec]("hostAliases"):        {serverSideApply("IP")},
		in[corev1.PodSpec]("hostname"):           {form(label)},
		in[corev1.PodSpec]("imagePullSecrets"):   {serverSideApply("Name")},
		in[corev1.PodSpec]("nodeName"):           {form(subdomain)},
		in[corev1.PodSpec]("nodeSelector"):       {labelMap},
		in[corev1.PodSpec]("preemptionPolicy"):   {among("PreemptLowerPriority", "Never")},
		in[corev1.PodSpec]("priorityClassName"):  {form(subdomain)},
		in[corev1.PodSpec]("restartPolicy"):      {among("Always", "OnFailure", "Never")},
		in[corev1.PodSpec]("runtimeClassName"):   {form(subdomain)},
		in[corev1.PodSpec]("schedulingGates"):    {serverSideApply("Name")},
		in[corev1.PodSpec]("serviceAccountName"): {form(subdomain)},
		in[corev1.PodSpec]("subdomain"):          {form(label)},
		in[corev1.PodSpec]("topologySpreadConstraints"): {
			serverSideApply("TopologyKey", "WhenUnsatisfiable"),
		},
		in[corev1.PodSchedulingGate]("name"):                      {always(validation.IsQualifiedName)},
		in[corev1.PodReadinessGate]("conditionType"):              {always(validation.IsQualifiedName)},
		in[corev1.PodOS]("name"):                                  {needed, among("linux", "windows")},
		in[corev1.HostAlias]("ip"):                                {always(address)},
		in[corev1.HostAlias]("hostnames"):                         {every(form(subdomain))},
		in[corev1.PodDNSConfig]("nameservers"):                    {every(form(address)), atMost(3)},
		in[corev1.PodDNSConfig]("searches"):                       {every(form(searchDomain)), atMost(32)},
		in[corev1.PodDNSConfigOption]("name"):                     {needed},
		in[corev1.PodSecurityContext]("fsGroup"):                  {identity},
		in[corev1.PodSecurityContext]("fsGroupChangePolicy"):      {among("Always", "OnRootMismatch")},
		in[corev1.PodSecurityContext]("runAsGroup"):               {identity},
		in[corev1.PodSecurityContext]("runAsUser"):                {identity},
		in[corev1.PodSecurityContext]("seLinuxChangePolicy"):      {among("Recursive")},
		in[corev1.PodSecurityContext]("supplementalGroups"):       {every(identity)},
		in[corev1.PodSecurityContext]("supplementalGroupsPolicy"): {among("Merge", "Strict")},
		in[corev1.PodSecurityContext]("sysctls"):                  {distinct(nil, "Name")},
		in[corev1.Sysctl]("name"):                                 {needed, form(sysctl)},
		in[corev1.SecurityContext]("procMount"):                   {among("Default", "Unmasked")},
		in[corev1.SecurityContext]("runAsGroup"):                  {identity},
		in[corev1.SecurityContext]("runAsUser"):                   {identity},
		in[corev1.SeccompProfile]("type"): {
			needed,
			among("Localhost", "RuntimeDefault", "Unconfined"),
		},
		in[corev1.AppArmorProfile]("type"): {
			needed,
			among("Localhost", "RuntimeDefault", "Unconfined"),
		},
		in[corev1.WindowsSecurityContextOptions]("runAsUserName"): {form(windowsUser)},
		in[corev1.SleepAction]("seconds"):                         {from(0)},
		in[nodev1.Scheduling]("tolerations"): {
			distinct(nil, "Key", "Operator", "Value", "Effect"),
		},
		in[corev1.TopologySelectorTerm]("matchLabelExpressions"):           {needed},
		in[metav1.ObjectMeta]("finalizers"):                                {differ},
		in[corev1.WindowsSecurityContextOptions]("gmsaCredentialSpec"):     {form(notEmpty)},
		in[corev1.WindowsSecurityContextOptions]("gmsaCredentialSpecName"): {form(subdomain)},
		in[corev1.TopologySpreadConstraint]("maxSkew"):                     {from(1)},
		in[corev1.TopologySpreadConstraint]("minDomains"):                  {from(1)},
		in[corev1.TopologySpreadConstraint]("nodeAffinityPolicy"):          {among("Honor", "Ignore")},
		in[corev1.TopologySpreadConstraint]("nodeTaintsPolicy"):            {among("Honor", "Ignore")},
		in[corev1.TopologySpreadConstraint]("topologyKey"):                 {needed},
		in[corev1.TopologySpreadConstraint]("whenUnsatisfiable"):           {needed, among("DoNotSchedule", "ScheduleAnyway")},
		in[corev1.NodeSelector]("nodeSelectorTerms"):                       {needed},
		in[corev1.NodeSelectorRequirement]("key"):                          {always(labelKey)},
		in[corev1.PreferredSchedulingTerm]("weight"):                       {between(1, 100)},
		in[corev1.WeightedPodAffinityTerm]("weight"):                       {between(1, 100)},
		in[corev1.PodAffinityTerm]("namespaces"):                           {every(form(label))},
		in[corev1.PodAffinityTerm]("topologyKey"):                          {needed, form(labelKey)},
		in[corev1.Container]("image"):                                      {needed},
		in[corev1.Container]("imagePullPolicy"):                            {among("Always", "IfNotPresent", "Never")},
		in[corev1.Container]("name"):                                       {needed, form(label)},
		in[corev1.Container]("terminationMessagePolicy"):                   {among("File", "FallbackToLogsOnError")},
		in[corev1.Container]("volumeDevices"):                              {serverSideApply("DevicePath")},
		in[corev1.ContainerPort]("containerPort"):                          {needed, ifSet(portNumber)},
		in[corev1.ContainerPort]("hostPort"):                               {ifSet(portNumber)},
		in[corev1.ContainerPort]("name"):                                   {form(validation.IsValidPortName)},
		in[corev1.ContainerPort]("protocol"):                               {protocols},
		in[corev1.ContainerResizePolicy]("resourceName"):                   {needed, among("cpu", "memory")},
		in[corev1.ContainerResizePolicy]("restartPolicy"):                  {needed, among("NotRequired", "RestartContainer")},
		in[corev1.EnvVar]("name"):                                          {needed, form(validation.IsRelaxedEnvVarName)},
		in[corev1.EnvFromSource]("prefix"):                                 {form(validation.IsRelaxedEnvVarName)},
		in[corev1.SecretKeySelector]("name"):                               {always(subdomain)},
		in[corev1.SecretKeySelector]("key"):                                {needed, form(validation.IsConfigMapKey)},
		in[corev1.ConfigMapKeySelector]("name"):                            {always(subdomain)},
		in[corev1.ConfigMapKeySelector]("key"):                             {needed, form(validation.IsConfigMapKey)},
		in[corev1.ConfigMapEnvSource]("name"):                              {needed, form(namePrefix)},
		in[corev1.SecretEnvSource]("name"):                                 {needed, form(namePrefix)},
		in[corev1.VolumeMount]("name"):                                     {needed},
		in[corev1.VolumeMount]("mountPath"):                                {needed},
		in[corev1.VolumeMount]("mountPropagation"): {
			among("Bidirectional", "HostToContainer", "None"),
		},
		in[corev1.VolumeMount]("subPath"):                             {form(relative)},
		in[corev1.VolumeMount]("subPathExpr"):                         {form(relative)},
		in[corev1.VolumeDevice]("name"):                               {needed},
		in[corev1.VolumeDevice]("devicePath"):                         {needed, form(inside)},
		in[corev1.Probe]("failureThreshold"):                          {from(0)},
		in[corev1.Probe]("initialDelaySeconds"):                       {from(0)},
		in[corev1.Probe]("periodSeconds"):                             {from(0)},
		in[corev1.Probe]("successThreshold"):                          {from(0)},
		in[corev1.Probe]("timeoutSeconds"):                            {from(0)},
		in[corev1.Probe]("terminationGracePeriodSeconds"):             {from(1)},
		in[corev1.ExecAction]("command"):                              {needed},
		in[corev1.HTTPGetAction]("port"):                              {portOrName},
		in[corev1.HTTPGetAction]("scheme"):                            {among("HTTP", "HTTPS")},
		in[corev1.HTTPHeader]("name"):                                 {always(validation.IsHTTPHeaderName)},
		in[corev1.TCPSocketAction]("port"):                            {portOrName},
		in[corev1.GRPCAction]("port"):                                 {portNumber},
		in[corev1.Volume]("name"):                                     {needed, form(label)},
		in[corev1.ConfigMapVolumeSource]("name"):                      {needed},
		in[corev1.ConfigMapVolumeSource]("defaultMode"):               {fileMode},
		in[corev1.SecretVolumeSource]("secretName"):                   {needed},
		in[corev1.SecretVolumeSource]("defaultMode"):                  {fileMode},
		in[corev1.ProjectedVolumeSource]("defaultMode"):               {fileMode},
		in[corev1.DownwardAPIVolumeSource]("defaultMode"):             {fileMode},
		in[corev1.DownwardAPIVolumeFile]("path"):                      {needed, form(fileName)},
		in[corev1.DownwardAPIVolumeFile]("mode"):                      {fileMode},
		in[corev1.ConfigMapProjection]("name"):                        {needed},
		in[corev1.SecretProjection]("name"):                           {needed},
		in[corev1.ServiceAccountTokenProjection]("path"):              {needed, form(fileName)},
		in[corev1.ServiceAccountTokenProjection]("expirationSeconds"): {between(600, 1<<32)},
		in[corev1.KeyToPath]("key"):                                   {needed},
		in[corev1.KeyToPath]("path"):                                  {needed, form(fileName)},
		in[corev1.KeyToPath]("mode"):                                  {fileMode},
		in[corev1.PersistentVolumeClaimVolumeSource]("claimName"):     {needed},
		in[corev1.HostPathVolumeSource]("path"):                       {needed, form(inside)},
		in[corev1.HostPathVolumeSource]("type"): {
			among("", "DirectoryOrCreate", "Directory", "FileOrCreate", "File", "Socket", "CharDevice", "BlockDevice"),
		},
		in[corev1.NFSVolumeSource]("server"):                    {needed},
		in[corev1.NFSVolumeSource]("path"):                      {needed, form(absolute)},
		in[corev1.CSIVolumeSource]("driver"):                    {needed, form(driverName)},
		in[corev1.CSIPersistentVolumeSource]("driver"):          {needed, form(driverName)},
		in[corev1.CSIPersistentVolumeSource]("volumeHandle"):    {needed},
		in[corev1.FlexPersistentVolumeSource]("driver"):         {needed},
		in[corev1.LocalVolumeSource]("path"):                    {needed, form(inside)},
		in[corev1.EmptyDirVolumeSource]("sizeLimit"):            {quantityFrom(0)},
		in[corev1.EphemeralVolumeSource]("volumeClaimTemplate"): {needed},
		in[corev1.ReplicationControllerSpec]("replicas"):        {from(0)},
		in[corev1.ReplicationControllerSpec]("minReadySeconds"): {from(0)},
		in[corev1.ServiceSpec]("type"): {
			among("ClusterIP", "ExternalName", "LoadBalancer", "NodePort"),
		},
		in[corev1.ServiceSpec]("sessionAffinity"):          {among("ClientIP", "None")},
		in[corev1.ServiceSpec]("selector"):                 {labelMap},
		in[corev1.ServiceSpec]("externalIPs"):              {every(form(endpoint))},
		in[corev1.ServiceSpec]("internalTrafficPolicy"):    {among("Cluster", "Local")},
		in[corev1.ServiceSpec]("trafficDistribution"):      {trafficDistribution},
		in[corev1.ServiceSpec]("loadBalancerSourceRanges"): {every(form(network))},
		in[corev1.ServiceSpec]("ports"): {
			distinct(map[string]string{"Protocol": "TCP"}, "Port", "Protocol"),
		},
		in[corev1.ServicePort]("port"):         {portNumber},
		in[corev1.ServicePort]("name"):         {form(label)},
		in[corev1.ServicePort]("protocol"):     {protocols},
		in[corev1.ServicePort]("appProtocol"):  {form(validation.IsQualifiedName)},
		in[corev1.EndpointAddress]("ip"):       {always(endpoint)},
		in[corev1.EndpointAddress]("hostname"): {form(label)},
		in[corev1.EndpointAddress]("nodeName"): {form(subdomain)},
		in[corev1.EndpointPort]("port"):        {portNumber},
		in[corev1.EndpointPort]("name"):        {form(label)},
		in[corev1.EndpointPort]("protocol"):    {protocols},
		in[corev1.EndpointPort]("appProtocol"): {form(validation.IsQualifiedName)},
		in[corev1.ServiceAccount]("secrets"):   {serverSideApply("Name")},
		in[corev1.PersistentVolumeClaimSpec]("accessModes"): {
			needed,
			every(among(accessModes...)),
			alone("ReadWriteOncePod"),
		},
		in[corev1.PersistentVolumeClaimSpec]("storageClassName"): {ifNotEmpty(subdomain)},
		in[corev1.PersistentVolumeClaimSpec]("volumeMode"):       {among("Block", "Filesystem")},
		in[corev1.PersistentVolumeSpec]("accessModes"): {
			needed,
			every(among(accessModes...)),
			alone("ReadWriteOncePod"),
		},
		in[corev1.PersistentVolumeSpec]("persistentVolumeReclaimPolicy"): {among("Delete", "Recycle", "Retain")},
		in[corev1.PersistentVolumeSpec]("storageClassName"):              {form(subdomain)},
		in[corev1.PersistentVolumeSpec]("volumeMode"):                    {among("Block", "Filesystem")},
		in[corev1.NamespaceSpec]("finalizers"):                           {every(form(kubeFinalizer))},
		in[corev1.ResourceQuotaSpec]("scopes"):                           {every(among(quotaScopes...))},
		in[corev1.ScopedResourceSelectorRequirement]("scopeName"):        {always(scopeName)},
		in[corev1.LimitRangeItem]("type"):                                {always(limitType)},
		in[corev1.LimitRangeSpec]("limits"):                              {distinct(nil, "Type")},
		in[networkingv1.IngressSpec]("ingressClassName"):                 {form(subdomain)},
		in[networkingv1.IngressTLS]("hosts"):                             {every(form(ingressHost))},
		in[networkingv1.IngressTLS]("secretName"):                        {form(subdomain)},
		in[networkingv1.IngressRule]("host"):                             {form(ruleHost)},
		in[networkingv1.HTTPIngressRuleValue]("paths"):                   {needed},
		in[networkingv1.HTTPIngressPath]("pathType"): {
			needed,
			among("Exact", "ImplementationSpecific", "Prefix"),
		},
		in[networkingv1.IngressServiceBackend]("name"):                                  {needed, form(validation.IsDNS1035Label)},
		in[networkingv1.IngressClassSpec]("controller"):                                 {needed, form(domainPath), form(longest(250))},
		in[networkingv1.NetworkPolicySpec]("policyTypes"):                               {every(among("Ingress", "Egress")), atMost(2)},
		in[networkingv1.NetworkPolicyPort]("protocol"):                                  {among("TCP", "UDP", "SCTP")},
		in[networkingv1.IPBlock]("cidr"):                                                {needed, form(network)},
		in[networkingv1.IPBlock]("except"):                                              {every(form(network))},
		in[policyv1.PodDisruptionBudgetSpec]("minAvailable"):                            {share(true)},
		in[policyv1.PodDisruptionBudgetSpec]("maxUnavailable"):                          {share(true)},
		in[policyv1.PodDisruptionBudgetSpec]("unhealthyPodEvictionPolicy"):              {among("AlwaysAllow", "IfHealthyBudget")},
		in[autoscalingv1.HorizontalPodAutoscalerSpec]("minReplicas"):                    {from(1)},
		in[autoscalingv1.HorizontalPodAutoscalerSpec]("maxReplicas"):                    {from(1)},
		in[autoscalingv1.HorizontalPodAutoscalerSpec]("targetCPUUtilizationPercentage"): {from(1)},
		in[autoscalingv1.CrossVersionObjectReference]("kind"):                           {needed, form(pathSegment)},
		in[autoscalingv1.CrossVersionObjectReference]("name"):                           {needed, form(pathSegment)},
		in[autoscalingv2.HorizontalPodAutoscalerSpec]("minReplicas"):                    {from(1)},
		in[autoscalingv2.HorizontalPodAutoscalerSpec]("maxReplicas"):                    {from(1)},
		in[autoscalingv2.CrossVersionObjectReference]("kind"):                           {needed, form(pathSegment)},
		in[autoscalingv2.CrossVersionObjectReference]("name"):                           {needed, form(pathSegment)},
		in[autoscalingv2.MetricSpec]("type"): {
			needed,
			among("ContainerResource", "External", "Object", "Pods", "Resource"),
		},
		in[autoscalingv2.MetricIdentifier]("name"): {needed, form(pathSegment)},
		in[autoscalingv2.MetricTarget]("type"): {
			needed,
			among("Utilization", "Value", "AverageValue"),
		},
		in[autoscalingv2.MetricTarget]("value"):                         {quantityFrom(1)},
		in[autoscalingv2.MetricTarget]("averageValue"):                  {quantityFrom(1)},
		in[autoscalingv2.MetricTarget]("averageUtilization"):            {from(1)},
		in[autoscalingv2.ResourceMetricSource]("name"):                  {needed},
		in[autoscalingv2.ContainerResourceMetricSource]("name"):         {needed, form(containerResource)},
		in[autoscalingv2.ContainerResourceMetricSource]("container"):    {needed, form(label)},
		in[autoscalingv2.HPAScalingRules]("stabilizationWindowSeconds"): {between(0, 3600)},
		in[autoscalingv2.HPAScalingRules]("selectPolicy"):               {among("Disabled", "Max", "Min")},
		in[autoscalingv2.HPAScalingPolicy]("type"):                      {needed, among("Percent", "Pods")},
		in[autoscalingv2.HPAScalingPolicy]("value"):                     {from(1)},
		in[autoscalingv2.HPAScalingPolicy]("periodSeconds"):             {between(1, 1800)},
		in[schedulingv1.PriorityClass]("preemptionPolicy"): {
			needPointer,
			among("PreemptLowerPriority", "Never"),
		},
		in[coordinationv1.LeaseSpec]("leaseDurationSeconds"):  {from(1)},
		in[coordinationv1.LeaseSpec]("leaseTransitions"):      {from(0)},
		in[discoveryv1.EndpointSlice]("addressType"):          {needed, among("FQDN", "IPv4", "IPv6")},
		in[discoveryv1.EndpointSlice]("ports"):                {distinct(nil, "Name")},
		in[discoveryv1.Endpoint]("addresses"):                 {needed, differ, atMost(100)},
		in[discoveryv1.Endpoint]("hostname"):                  {form(label)},
		in[discoveryv1.Endpoint]("nodeName"):                  {form(subdomain)},
		in[discoveryv1.EndpointPort]("name"):                  {ifNotEmpty(label)},
		in[discoveryv1.EndpointPort]("protocol"):              {protocols},
		in[discoveryv1.EndpointPort]("appProtocol"):           {form(validation.IsQualifiedName)},
		in[nodev1.RuntimeClass]("handler"):                    {always(label)},
		in[nodev1.Scheduling]("nodeSelector"):                 {labelMap},
		in[storagev1.StorageClass]("provisioner"):             {needed, form(lower(validation.IsQualifiedName))},
		in[storagev1.StorageClass]("reclaimPolicy"):           {ifNotEmpty(reclaimPolicy)},
		in[storagev1.StorageClass]("volumeBindingMode"):       {among("Immediate", "WaitForFirstConsumer")},
		in[corev1.TopologySelectorLabelRequirement]("key"):    {always(labelKey)},
		in[corev1.TopologySelectorLabelRequirement]("values"): {needed, differ},
		in[storagev1.CSIDriverSpec]("fsGroupPolicy"):          {among("File", "None", "ReadWriteOnceWithFSType")},
		in[storagev1.CSIDriverSpec]("volumeLifecycleModes"):   {every(among("Persistent", "Ephemeral")), differ},
		in[storagev1.CSIDriverSpec]("tokenRequests"):          {distinct(nil, "Audience")},
		in[storagev1.TokenRequest]("expirationSeconds"):       {between(600, 1<<32)},
		in[rbacv1.RoleRef]("name"):                            {needed, form(pathSegment)},
		in[rbacv1.RoleRef]("apiGroup"):                        {among(rbacv1.GroupName)},
		in[rbacv1.Subject]("name"):                            {needed},
		in[rbacv1.AggregationRule]("clusterRoleSelectors"):    {needed},
	}
}

// checks are the rules, made when the first object is validated.
var checks = sync.OnceValue(rules)

// unvalidated are fields that the API server stores as they are, or drops because
// the feature is off by default.
var unvalidated = map[place]bool{
	in[batchv1.JobTemplateSpec]("metadata"):                       true,
	in[autoscalingv2.MetricIdentifier]("selector"):                true,
	in[corev1.VolumeProjection]("clusterTrustBundle"):             true, // ClusterTrustBundleProjection
	in[corev1.VolumeSource]("image"):                              true, // ImageVolume
	in[corev1.PodSpec]("resources"):                               true, // PodLevelResources
	in[corev1.PodSpec]("resourceClaims"):                          true, // DynamicResourceAllocation
	in[corev1.PersistentVolumeClaimSpec]("dataSourceRef"):         true, // compared with dataSource
	in[appsv1.RollingUpdateStatefulSetStrategy]("maxUnavailable"): true, // MaxUnavailableStatefulSet
}

// later are fields that the API server stores as they are, and validates when the
// controller creates an object of them.
var later = map[place]bool{
	in[appsv1.StatefulSetSpec]("template"):             true,
	in[appsv1.StatefulSetSpec]("volumeClaimTemplates"): true,
}
