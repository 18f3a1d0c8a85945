import { expect, test } from "vitest";
import { readPath } from "./request-path.ts";

test.each([
  ["/api/v1/pods", "pods", "pods"],
  ["/api/v1/namespaces/default/pods", "default/pods", "pods"],
  ["/api/v1/namespaces/default/pods/web-0/status", "default/pods/web-0/status", "pods"],
  ["/api/v1/namespaces/default", "namespaces/default", "namespaces"],
  ["/api/v1/nodes/node-0", "nodes/node-0", "nodes"],
  ["/apis/apps/v1/namespaces/default/deployments/web", "default/deployments/web", "deployments"],
  ["/apis/apps/v1/deployments", "deployments", "deployments"],
  ["/apis/coordination.k8s.io/v1/namespaces/operators/leases", "operators/leases", "leases"],
  ["/api/v1", "", ""],
  ["/apis/apps/v1", "", ""],
  ["/api", "/api", ""],
  ["/apis", "/apis", ""],
  ["/apis/apps", "/apis/apps", ""],
  ["/version", "/version", ""],
])("readPath(%j) is about %j, of resource %j", (path, object, resource) => {
  expect(readPath(path)).toEqual({ object, resource });
});
