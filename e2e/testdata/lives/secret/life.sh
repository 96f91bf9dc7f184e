# What a template reads of a Secret is in no status, no Workflow and no Event.
apply - <<YAML
{apiVersion: secret-$ENGINE.example.com/v1, kind: Login, metadata: {name: one}, spec: {user: verysecretuser}}
YAML
kubectl -n $NS wait logins.secret-$ENGINE.example.com/one --for=condition=Ready --timeout=$LONG
first=$(kubectl -n $NS get configmap one -o jsonpath='{.data.checksum}')
kubectl -n $NS patch logins.secret-$ENGINE.example.com one --type merge -p '{"spec":{"user":"otherverysecret"}}'
until_other "$first" kubectl -n $NS get configmap one -o jsonpath='{.data.checksum}'
kubectl -n $NS patch secret one-creds --type merge -p "{\"data\":{\"user\":\"$(printf leaked | base64)\"}}"
until_says "$(printf otherverysecret | base64)" kubectl -n $NS get secret one-creds -o jsonpath='{.data.user}'
until_idle
{
  kubectl -n $NS get logins.secret-$ENGINE.example.com one -o jsonpath='{.status}'
  kubectl -n $NS get configmap one -o yaml
  kubectl -n $NS get events -o yaml
  kubectl -n $OPERATORS get workflows -l "app.kubernetes.io/managed-by=$OPERATOR" -o yaml
} >"$DIR/said"
for value in verysecretuser otherverysecret; do
  if grep -v '"user"' "$DIR/said" | grep -e "$(printf $value | base64)"; then exit 1; fi
done
