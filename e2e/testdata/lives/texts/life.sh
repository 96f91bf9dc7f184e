# A key that is no longer in stringData goes, and what others write into a key is repaired.
apply - <<YAML
{apiVersion: texts-$ENGINE.example.com/v1, kind: Text, metadata: {name: one}, spec: {}}
YAML
data() { kubectl -n $NS get secret one -o jsonpath='{.data}'; }
until_says '^{"kept":"aw==","more":"bQ=="}$' data
kubectl -n $NS patch secret one --type merge -p '{"stringData":{"more":"edited"}}'
until_says '^{"kept":"aw==","more":"bQ=="}$' data
kubectl -n $NS patch texts.texts-$ENGINE.example.com one --type merge -p '{"spec":{"more":false}}'
until_says '^{"kept":"aw=="}$' data
