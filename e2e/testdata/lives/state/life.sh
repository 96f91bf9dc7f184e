# An editor of the status cannot name an object of others for the operator to delete.
kubectl -n $NS create configmap victim --from-literal=a=precious
uid=$(kubectl -n $NS get configmap victim -o jsonpath='{.metadata.uid}')
apply - <<YAML
{apiVersion: state-$ENGINE.example.com/v1, kind: Web, metadata: {name: victim}, spec: {}}
YAML
kubectl -n $NS wait webs.state-$ENGINE.example.com/victim --for=condition=Ready --timeout=$LONG
owner=$(kubectl -n $NS get webs.state-$ENGINE.example.com victim -o jsonpath='{.metadata.uid}')
kubectl -n $NS create role mallory --verb=get,patch,update --resource=webs.state-$ENGINE.example.com,webs.state-$ENGINE.example.com/status
kubectl -n $NS create rolebinding mallory --role=mallory --user=mallory
before=$(kubectl -n $NS get configmap victim -o yaml --show-managed-fields)
state="{\"status\":{\"children\":{\"page\":{\"uid\":\"$uid\",\"ownerUID\":\"$owner\",\"ready\":true,\"generation\":1}}}}"
patch() { kubectl -n $NS --as=mallory patch webs.state-$ENGINE.example.com victim --subresource=status --type merge -p "$1"; }
until_ok patch '{"status":{"note":"seen"}}'
if patch "$state"; then exit 1; fi
kubectl -n $NS patch webs.state-$ENGINE.example.com victim --type merge -p '{"spec":{"public":false}}'
kubectl -n $NS annotate webs.state-$ENGINE.example.com victim touched=yes
until_idle
[ "$(kubectl -n $NS get configmap victim -o yaml --show-managed-fields)" = "$before" ]
