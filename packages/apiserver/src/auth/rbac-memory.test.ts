import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { FakeStore } from "./fake-store.fixture.ts";
import { RbacAuthorizer } from "./rbac-authorizer.ts";

setFlagsFromString("--expose-gc");
// Only a context that is made after the flag was set has the function.
const collect = runInNewContext("gc") as () => void;

function heapBytes(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

test("RbacAuthorizer remembers nothing of namespaces that strangers make up", () => {
  const store = new FakeStore();
  using authorizer = new RbacAuthorizer({ reader: store, storage: store });
  const place = { group: "", version: "v1", resource: "secrets", subresource: "", name: "" };
  const user = { username: "system:anonymous", groups: ["system:unauthenticated"] };
  const ask = (namespace: string): boolean =>
    authorizer.authorize({ ...place, namespace, user, verb: "list", isResourceRequest: true, path: "" }).allowed;
  ask("first");
  const before = heapBytes();
  for (let i = 0; i < 20_000; i++) ask(`${"x".repeat(500)}${i}`);
  expect(heapBytes() - before).toBeLessThan(2_000_000);
});
