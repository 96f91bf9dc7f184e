// Computes the ConfigMap of a [[ .API.Kind ]] for the operator [[ .Name ]].

import { readFileSync, writeFileSync } from "node:fs";

function configmap({ metadata, spec }) {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    // a cluster-scoped custom resource has no namespace
    metadata: { name: metadata.name, namespace: metadata.namespace ?? "default" },
    data: { "spec.json": JSON.stringify(spec ?? {}) },
  };
}

// `parent` of the request is the custom resource, `children` are its existing objects
const request = JSON.parse(readFileSync(process.env.ARGOPERATOR_REQUEST, "utf8"));

// objects that are no longer listed are deleted; fields of a `status` next to `children` go to the custom resource's status
const response = { children: [configmap(request.parent)] };

writeFileSync(process.env.ARGOPERATOR_RESPONSE, JSON.stringify(response));
