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
if [ "$ENGINE" = workflow ]; then # Workflows of changes that wait for their turn go when an earlier one has served them
  until_idle
  windows=$(for window in $(seq 100 119); do echo lives-related-workflow-enqueue-$window; done)
  for name in $windows; do cat <<YAML
---
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: $name, namespace: $OPERATORS, labels: {app.kubernetes.io/managed-by: lives-related-workflow}}
spec: {workflowTemplateRef: {name: lives-related-workflow-enqueue}, arguments: {parameters: [{name: wait, value: "3"}]}}
YAML
  done | NS=$OPERATORS apply -
  until_idle
  left=$(kubectl -n $OPERATORS get workflows -o name --ignore-not-found $windows | wc -l)
  echo "$left of 20 Workflows ran"
  test "$left" -le 4
fi
