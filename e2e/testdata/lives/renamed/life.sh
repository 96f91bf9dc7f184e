# Children that were renamed in the definition keep their objects, and what is in them.
apply - <<YAML
{apiVersion: renamed-$ENGINE.example.com/v1, kind: Store, metadata: {name: one}, spec: {}}
YAML
kubectl -n $NS wait stores.renamed-$ENGINE.example.com/one --for=condition=Ready --timeout=$LONG
kubectl -n $NS exec one-0 -- sh -c 'echo precious >/data/file'
ids() { kubectl -n $NS get statefulset/one pod/one-0 configmap/one-note -o jsonpath='{.items[*].metadata.uid}'; }
before=$(ids)
sed -i 's/- name: store$/- name: database/; s/- name: note$/- name: remark/' "$DIR/operator.yaml"
grep -q -- '- name: database' "$DIR/operator.yaml"
"$ARGOPERATOR" generate -f "$DIR" | kubectl apply -f -
kubectl -n $NS patch stores.renamed-$ENGINE.example.com one --type merge -p '{"spec":{"text":"b"}}'
until_says '^b$' kubectl -n $NS get configmap one-note -o jsonpath='{.data.text}'
kubectl -n $NS wait stores.renamed-$ENGINE.example.com/one --for=condition=Ready --timeout=$LONG
until_idle
[ "$(ids)" = "$before" ]
[ "$(kubectl -n $NS exec one-0 -- cat /data/file)" = precious ]
