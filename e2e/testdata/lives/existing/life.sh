# A kind of others that counts its generations.
apply - <<YAML
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: existing, labels: {lives: $ENGINE}}
spec:
  replicas: 0
  serviceName: existing
  selector: {matchLabels: {app: existing}}
  template:
    metadata: {labels: {app: existing}}
    spec: {containers: [{name: main, image: "docker.io/library/busybox:1.37"}]}
YAML
replicas() { kubectl -n $NS get configmap existing-replicas -o jsonpath='{.data.replicas}'; }
until_says '^0$' replicas
kubectl -n $NS annotate statefulset existing seen=yes
kubectl -n $NS patch statefulset existing --type merge -p '{"spec":{"replicas":1}}'
until_says '^1$' replicas
kubectl -n $NS patch statefulset existing --type merge -p '{"spec":{"replicas":0}}'
until_says '^0$' replicas
until_idle
