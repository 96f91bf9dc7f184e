#!/bin/sh
# Computes the ConfigMap of a [[ .API.Kind ]] for the operator [[ .Name ]].
set -eu

# `parent` of the request is the custom resource, `children` are its existing objects. Objects that the response does not
# list are deleted. Fields of a `status` next to `children` go to the custom resource's status.
jq '
  .parent as {$metadata, $spec}
  | {children: [{
      apiVersion: "v1",
      kind: "ConfigMap",
      # a cluster-scoped custom resource has no namespace
      metadata: {name: $metadata.name, namespace: ($metadata.namespace // "default")},
      data: {"spec.json": ($spec // {} | tojson)}
    }]}
' "$ARGOPERATOR_REQUEST" >"$ARGOPERATOR_RESPONSE"
