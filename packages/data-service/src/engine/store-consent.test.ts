import { PersistentVolumeClaim } from "setpoint/kinds";
import { expect, test } from "vitest";
import { BackupStore } from "../kinds/backup-store.ts";
import { pathProblem } from "./store-consent.ts";

const store = BackupStore({
  name: "vault",
  namespace: "tenant",
  spec: { claim: { claimName: "shared", prefix: "etcdcluster" } },
});
const claim = PersistentVolumeClaim({ name: "shared", namespace: "tenant", spec: {} });
const fresh = (): Promise<never> => Promise.resolve(claim as never);

test.each([
  ["etcdcluster/tenant/orders/uid/uid", undefined],
  ["etcdcluster/tenant/orders/external/uid", undefined],
  ["etcdcluster/payments/orders/uid/uid", "ClaimNotLabelled"],
  // The store's prefix has the first part: "tenant" is an instance of the namespace "payments".
  ["payments/tenant/uid/uid", "ClaimNotLabelled"],
  ["prefix/tenant/payments/orders/uid/uid", "ClaimNotLabelled"],
  ["etcdcluster/tenant", "ClaimNotLabelled"],
])("a store of the namespace tenant reads %s: %s", async (path, reason) => {
  expect((await pathProblem(store, path, { fresh }))?.reason).toBe(reason);
});
