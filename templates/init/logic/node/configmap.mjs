// What the operator [[ .Name ]] keeps for each [[ .API.Kind ]]: a ConfigMap.

import { readFileSync, writeFileSync } from "node:fs";

function configmap({ metadata, spec }) {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    // a custom resource of cluster scope has no namespace of its own
    metadata: { name: metadata.name, namespace: metadata.namespace ?? "default" },
    data: { "spec.json": JSON.stringify(spec ?? {}) },
  };
}

// the custom resource is the request's `parent`, what there is for it already its `children`
const request = JSON.parse(readFileSync(process.env.ARGOPERATOR_REQUEST, "utf8"));

// what is not listed any more is deleted; a `status` beside the children is laid over the custom resource's
const response = { children: [configmap(request.parent)] };

writeFileSync(process.env.ARGOPERATOR_RESPONSE, JSON.stringify(response));
