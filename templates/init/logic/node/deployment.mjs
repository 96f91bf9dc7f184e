// Computes the Deployment of a [[ .API.Kind ]] for the operator [[ .Name ]].

import { readFileSync, writeFileSync } from "node:fs";

function deployment({ metadata, spec }) {
  const labels = { "app.kubernetes.io/name": "[[ .Name ]]", "app.kubernetes.io/instance": metadata.name };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    // a cluster-scoped custom resource has no namespace
    metadata: { name: metadata.name, namespace: metadata.namespace ?? "default" },
    spec: {
      replicas: spec.replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: pod(spec.image) },
    },
  };
}

// A pod for the restricted Pod Security Standard. The image must run as a user other than root.
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

// `parent` of the request is the custom resource, `children` are its existing objects
const request = JSON.parse(readFileSync(process.env.ARGOPERATOR_REQUEST, "utf8"));

// objects that are no longer listed are deleted; fields of a `status` next to `children` go to the custom resource's status
const response = { children: [deployment(request.parent)] };

writeFileSync(process.env.ARGOPERATOR_RESPONSE, JSON.stringify(response));
