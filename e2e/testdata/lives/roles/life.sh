# A role that is immutable in its binding changes, of one item of a list alone.
apply - <<YAML
{apiVersion: roles-$ENGINE.example.com/v1, kind: Team, metadata: {name: one}, spec: {members: [{name: ann}, {name: bob}]}}
YAML
role() { kubectl -n $NS get rolebinding "one-$1" -o jsonpath='{.roleRef.name}'; }
until_says '^edit$' role ann
until_says '^edit$' role bob
ann=$(kubectl -n $NS get rolebinding one-ann -o jsonpath='{.metadata.uid}')
kubectl -n $NS patch teams.roles-$ENGINE.example.com one --type merge -p '{"spec":{"members":[{"name":"ann"},{"name":"bob","role":"view"}]}}'
until_says '^view$' role bob
kubectl -n $NS wait teams.roles-$ENGINE.example.com/one --for=condition=Ready --timeout=$LONG
[ "$(kubectl -n $NS get rolebinding one-ann -o jsonpath='{.metadata.uid}')" = "$ann" ]
[ "$(role ann)" = edit ]
