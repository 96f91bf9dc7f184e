#!/bin/sh
# What the operator [[ .Name ]] keeps for each [[ .API.Kind ]]: a ConfigMap.
set -eu

# The custom resource is the request's `parent`, what there is for it already its `children`. What is not listed in the
# response is deleted; a `status` beside the children is laid over the custom resource's.
jq '
  .parent as {$metadata, $spec}
  | {children: [{
      apiVersion: "v1",
      kind: "ConfigMap",
      # a custom resource of cluster scope has no namespace of its own
      metadata: {name: $metadata.name, namespace: ($metadata.namespace // "default")},
      data: {"spec.json": ($spec // {} | tojson)}
    }]}
' "$ARGOPERATOR_REQUEST" >"$ARGOPERATOR_RESPONSE"
