# Who creates Secrets in one namespace cannot have them copied into a system namespace.
apply - <<'YAML'
apiVersion: v1
kind: Secret
metadata: {name: bootstrap-token-abcdef, annotations: {copier.example.com/to: kubernetes.io/metadata.name=kube-system}}
stringData: {token-id: abcdef}
---
apiVersion: v1
kind: Secret
metadata: {name: allowed, annotations: {copier.example.com/to: copies=yes}}
stringData: {a: b}
YAML
kubectl get namespace team-copies || kubectl create namespace team-copies
kubectl label namespace team-copies kube-public copies=yes --overwrite
kubectl -n $NS annotate secret allowed touched=yes
until_ok kubectl -n team-copies get secret allowed
until_idle
if kubectl -n kube-system get secret bootstrap-token-abcdef || kubectl -n kube-public get secret allowed; then exit 1; fi
kubectl label namespace kube-public copies-
kubectl delete namespace team-copies --wait=false
