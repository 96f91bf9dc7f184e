# A status that reads related objects keeps them when a child changes.
kubectl -n $NS create configmap first
kubectl -n $NS label configmap first note-of=one
apply - <<YAML
{apiVersion: related-$ENGINE.example.com/v1, kind: Related, metadata: {name: one}, spec: {}}
YAML
notes() { kubectl -n $NS get relateds.related-$ENGINE.example.com one -o jsonpath='{.status.notes}'; }
size() { kubectl -n $NS get configmap one-size -o jsonpath='{.data.size}'; }
until_says '^\["first"\]$' notes
kubectl -n $NS patch configmap one-size --type merge -p '{"data":{"size":"edited"}}'
until_says '^1$' size
until_idle
notes | grep -q '^\["first"\]$'
kubectl -n $NS create configmap second
kubectl -n $NS label configmap second note-of=one
until_says '^\["first","second"\]$' notes
