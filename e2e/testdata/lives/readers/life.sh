# A child that reads every object of a list follows the list.
apply - <<YAML
{apiVersion: readers-$ENGINE.example.com/v1, kind: Reader, metadata: {name: one}, spec: {}}
YAML
all() { kubectl -n $NS get configmap one -o jsonpath='{.data.keys} {.data.count}'; }
until_says '^v0 1$' all
kubectl -n $NS patch readers.readers-$ENGINE.example.com one --type merge -p '{"spec":{"parts":3}}'
until_says '^v0,v1,v2 3$' all
kubectl -n $NS patch readers.readers-$ENGINE.example.com one --type merge -p '{"spec":{"parts":0}}'
until_says '^ 0$' all
