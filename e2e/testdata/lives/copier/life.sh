# Who creates Secrets in one namespace cannot have them copied into a system namespace.
apply - <<YAML
apiVersion: v1
kind: Secret
metadata: {name: bootstrap-token-abcdef, annotations: {copier-$ENGINE.example.com/to: kubernetes.io/metadata.name=kube-system}}
stringData: {token-id: abcdef}
---
apiVersion: v1
kind: Secret
metadata: {name: allowed, annotations: {copier-$ENGINE.example.com/to: copies-$ENGINE=yes}}
stringData: {a: b}
YAML
kubectl get namespace team-copies-$ENGINE || kubectl create namespace team-copies-$ENGINE
kubectl label namespace team-copies-$ENGINE kube-public copies-$ENGINE=yes --overwrite
kubectl -n $NS annotate secret allowed touched=yes
until_ok kubectl -n team-copies-$ENGINE get secret allowed
until_idle
if kubectl -n kube-system get secret bootstrap-token-abcdef || kubectl -n kube-public get secret allowed; then exit 1; fi
kubectl label namespace kube-public copies-$ENGINE-
kubectl delete namespace team-copies-$ENGINE --wait=false
