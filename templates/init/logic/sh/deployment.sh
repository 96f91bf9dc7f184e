#!/bin/sh
# What the operator [[ .Name ]] keeps for each [[ .API.Kind ]]: a Deployment.
set -eu

# The custom resource is the request's `parent`, what there is for it already its `children`. What is not listed in the
# response is deleted; a `status` beside the children is laid over the custom resource's.
# The pod is as the restricted Pod Security Standard wants it: the image runs as a user other than root.
jq '
  .parent as {$metadata, $spec}
  | {"app.kubernetes.io/name": "[[ .Name ]]", "app.kubernetes.io/instance": $metadata.name} as $labels
  | {children: [{
      apiVersion: "apps/v1",
      kind: "Deployment",
      # a custom resource of cluster scope has no namespace of its own
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
