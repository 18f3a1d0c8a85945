import { ApiError, failure } from "@setpoint/apimachinery";
import type { ReconcileContext, Stored } from "setpoint";
import { Deployment } from "setpoint/kinds";
import { expect, test } from "vitest";
import { projectBinding } from "./project-binding.ts";

function shop(name: string): Stored<Deployment> {
  const place = { namespace: "default", uid: name, resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" };
  const template = { metadata: {}, spec: { containers: [{ name: "app", image: "shop:1" }] } };
  const deployment = Deployment({ name, spec: { selector: {}, template } });
  return { ...deployment, metadata: { ...deployment.metadata, ...place } } as Stored<Deployment>;
}

const refusals = [
  ["the schema", new ApiError(failure(422, "Invalid", "the path is taken"))],
  ["an admission policy", new ApiError(failure(403, "Forbidden", "denied by policy"))],
] as const;

test.each(refusals)("a workload that %s refuses does not keep the binding from those after it", async (_, refusal) => {
  const bound: string[] = [];
  const context = {
    signal: new AbortController().signal,
    list: (kind: unknown) => (kind === Deployment ? [shop("a"), shop("b"), shop("c")] : []),
    async patch({ metadata: { name } }: Deployment) {
      if (name === "b") throw refusal;
      bound.push(name ?? "");
    },
  } as unknown as ReconcileContext;
  const reference = { apiVersion: "apps/v1", kind: "Deployment", selector: {} };
  const projected = projectBinding(context, "default", "uid", reference, {
    ...{ id: "uid", name: "orders", secretName: "login", env: [] },
  });
  const outcome = await projected.catch((error: unknown) => error);
  expect(bound).toEqual(["a", "c"]);
  expect(JSON.stringify(outcome, ["message"])).toMatch(/the path is taken|denied by policy/);
  if (refusal.code === 422) expect(outcome).toMatchObject({ kind: "refused", reason: "WorkloadRefused" });
  else expect(outcome).toBe(refusal);
});
