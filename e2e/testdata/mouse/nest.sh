# The nest of a mouse: a ConfigMap in the namespace e2e-mice, named after the mouse.
set -eu

# field NAME: the first value of this name in the request; there is no jq in the image.
field() {
  tr '{},' '\n\n\n' <"$ARGOPERATOR_REQUEST" | sed -n "s/^ *\"$1\": *\"\([^\"]*\)\".*/\1/p" | head -n 1
}

name=$(field name)
if [ "$(field mood)" = angry ]; then
  echo "mouse $name is angry and builds no nest" >&2
  exit 1
fi

if [ "$(field mood)" = stubborn ] && grep -q '"finalizing": true' "$ARGOPERATOR_REQUEST"; then
  echo "mouse $name does not want to leave" >&2
  exit 1
fi

if [ "$(field mood)" = homeless ] || grep -q '"finalizing": true' "$ARGOPERATOR_REQUEST"; then
  echo '{"children": []}' >"$ARGOPERATOR_RESPONSE"
  exit 0
fi

cat >"$ARGOPERATOR_RESPONSE" <<EOF
{"children": [{
  "apiVersion": "v1", "kind": "ConfigMap",
  "metadata": {"name": "$name", "namespace": "e2e-mice"},
  "data": {"cheese": "$(field cheese)"}
}]}
EOF
