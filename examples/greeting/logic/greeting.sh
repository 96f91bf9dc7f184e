set -eu
jq '{children: [.parent.metadata.name as $of | (.parent.data.names // "") | [splits("\\s+") | select(. != "")]
  | to_entries[] | {apiVersion: "v1", kind: "ConfigMap", metadata: {name: "\($of)-card-\(.key)"}, data: {text: "Hello, \(.value)!"}}]}' \
  "$ARGOPERATOR_REQUEST" > "$ARGOPERATOR_RESPONSE"
