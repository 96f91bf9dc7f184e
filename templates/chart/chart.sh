# Renders the chart next to this file and writes the response. The values are the spec of the custom resource, in
# values.json; while the custom resource is being deleted there is no such file. The arguments are passed to helm.
set -eu
exchange=$(dirname "$ARGOPERATOR_REQUEST")
if test ! -e "$exchange/values.json"; then
  echo '{"children": []}' > "$ARGOPERATOR_RESPONSE"
  exit 0
fi
export HOME="$exchange" HELM_NAMESPACE= HELM_PLUGINS="$exchange/none"
namespace=${ARGOPERATOR_KEY%%.*}
here=$(pwd -P)

# The last line is the reason in the condition Ready, so an advice after it is left out.
render() {
  code=0
  helm template "$@" 2> "$exchange/errors" || code=$?
  sed '/^$/d; /^Use --debug flag/d' "$exchange/errors" >&2
  return $code
}

render "${ARGOPERATOR_KEY#*.}" "$(cd -P "$here/chart" && pwd -P)" --namespace "${namespace:-default}" \
  --values "$exchange/values.json" "$@" > "$exchange/manifest.yaml"
# The same program converts the manifest to JSON, so that nothing else in the image has to read YAML.
render response "$(cd -P "$here/convert" && pwd -P)" --set-file "manifest=$exchange/manifest.yaml" > "$exchange/answer"
sed -n 's/^# left out/left out/p' "$exchange/answer"
sed -n '/^{/p' "$exchange/answer" > "$ARGOPERATOR_RESPONSE"
