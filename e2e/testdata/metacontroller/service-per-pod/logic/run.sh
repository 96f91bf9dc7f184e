set -eu
hook=sync
if grep -q '"finalizing": true' "$ARGOPERATOR_REQUEST"; then hook=finalize; fi
jsonnet --tla-code-file "request=$ARGOPERATOR_REQUEST" "$hook-service-per-pod.jsonnet" > "$ARGOPERATOR_RESPONSE"
