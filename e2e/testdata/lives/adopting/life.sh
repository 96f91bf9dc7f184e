# Adoption takes nothing of another custom resource, and deletes nothing of it.
for one in "e2e-shared-$ENGINE" "$NS-other"; do kubectl get namespace "$one" || kubectl create namespace "$one"; done
zone() { printf -- '---\n{apiVersion: adopting-%s.example.com/v1, kind: Zone, metadata: {name: victim, namespace: %s}, spec: {host: %s, target: %s}}' "$ENGINE" "$1" "$2" "$3"; }
kubectl -n "e2e-shared-$ENGINE" delete configmap mine www --ignore-not-found
kubectl -n "e2e-shared-$ENGINE" create configmap mine --from-literal=target=before
zone "$NS" mine good | kubectl apply -f -
until_says '^good$' kubectl -n "e2e-shared-$ENGINE" get configmap mine -o jsonpath='{.data.target}'
kubectl -n "$NS" wait zones.adopting-$ENGINE.example.com/victim --for=condition=Ready --timeout=$LONG
before=$(kubectl -n "e2e-shared-$ENGINE" get configmap mine -o yaml --show-managed-fields)
zone "$NS-other" mine evil | kubectl apply -f -
until_says 'not adopted' kubectl -n "$NS-other" get zones.adopting-$ENGINE.example.com victim -o jsonpath='{.status.conditions}'
[ "$(kubectl -n "e2e-shared-$ENGINE" get configmap mine -o yaml --show-managed-fields)" = "$before" ]
kubectl -n "$NS-other" delete zones.adopting-$ENGINE.example.com victim --wait=false
until_gone kubectl -n "$NS-other" get zones.adopting-$ENGINE.example.com victim
until_idle
[ "$(kubectl -n "e2e-shared-$ENGINE" get configmap mine -o yaml --show-managed-fields)" = "$before" ]
kubectl delete namespace "$NS-other" --wait=false
