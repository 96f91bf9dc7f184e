#!/bin/sh
# Computes the Deployment of a [[ .API.Kind ]] for the operator [[ .Name ]].
set -eu

# `parent` of the request is the custom resource, `children` are its existing objects. Objects that the response does not
# list are deleted. Fields of a `status` next to `children` go to the custom resource's status.
# The pod meets the restricted Pod Security Standard. The image must run as a user other than root.
jq '
  .parent as {$metadata, $spec}
  | {"app.kubernetes.io/name": "[[ .Name ]]", "app.kubernetes.io/instance": $metadata.name} as $labels
  | {children: [{
      apiVersion: "apps/v1",
      kind: "Deployment",
      # a cluster-scoped custom resource has no namespace
      metadata: {name: $metadata.name, namespace: ($metadata.namespace // "default")},
      spec: {
        replicas: $spec.replicas,
        selector: {matchLabels: $labels},
        template: {
          metadata: {labels: $labels},
          spec: {
            securityContext: {runAsNonRoot: true, seccompProfile: {type: "RuntimeDefault"}},
            containers: [{
              name: "app",
              image: $spec.image,
              ports: [{name: "http", containerPort: 8080}],
              readinessProbe: {httpGet: {path: "/", port: "http"}},
              resources: {requests: {cpu: "10m", memory: "32Mi"}, limits: {memory: "128Mi"}},
              securityContext: {
                allowPrivilegeEscalation: false,
                readOnlyRootFilesystem: true,
                capabilities: {drop: ["ALL"]}
              },
              volumeMounts: [{name: "tmp", mountPath: "/tmp"}]
            }],
            volumes: [{name: "tmp", emptyDir: {}}]
          }
        }
      }
    }]}
' "$ARGOPERATOR_REQUEST" >"$ARGOPERATOR_RESPONSE"
