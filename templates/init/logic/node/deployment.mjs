// What the operator [[ .Name ]] keeps for each [[ .API.Kind ]]: a Deployment.

import { readFileSync, writeFileSync } from "node:fs";

function deployment({ metadata, spec }) {
  const labels = { "app.kubernetes.io/name": "[[ .Name ]]", "app.kubernetes.io/instance": metadata.name };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    // a custom resource of cluster scope has no namespace of its own
    metadata: { name: metadata.name, namespace: metadata.namespace ?? "default" },
    spec: {
      replicas: spec.replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: pod(spec.image) },
    },
  };
}

// A pod as the restricted Pod Security Standard wants it: the image runs as a user other than root.
function pod(image) {
  return {
    securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
    containers: [
      {
        name: "app",
        image,
        ports: [{ name: "http", containerPort: 8080 }],
        readinessProbe: { httpGet: { path: "/", port: "http" } },
        resources: { requests: { cpu: "10m", memory: "32Mi" }, limits: { memory: "128Mi" } },
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        },
        volumeMounts: [{ name: "tmp", mountPath: "/tmp" }],
      },
    ],
    volumes: [{ name: "tmp", emptyDir: {} }],
  };
}

// the custom resource is the request's `parent`, what there is for it already its `children`
const request = JSON.parse(readFileSync(process.env.ARGOPERATOR_REQUEST, "utf8"));

// what is not listed any more is deleted; a `status` beside the children is laid over the custom resource's
const response = { children: [deployment(request.parent)] };

writeFileSync(process.env.ARGOPERATOR_RESPONSE, JSON.stringify(response));
