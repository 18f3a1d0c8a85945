/** What an engine's operator gets without its author. */
import { controller, defineKind } from "setpoint";
import { PersistentVolumeClaim, Pod } from "setpoint/kinds";
import { expect, test } from "vitest";
import { z } from "zod";
import { preparedClaim } from "./data-claim/data-claim.ts";
import { defineDataService, type DataServiceInit } from "./data-service-operator.ts";
import type { EngineControl } from "./engine/control.ts";

const Store = defineKind({
  group: "examples.setpoint.dev",
  version: "v1",
  kind: "Store",
  spec: z.object({ size: z.int().optional() }),
});
type Store = ReturnType<typeof Store>;

const engine: EngineControl<Store> = {
  name: "store",
  kind: Store,
  state: () => ({ serving: true, engineVersion: "1" }),
  source: () => ({ request: {} }),
  dataFolder: () => {
    throw new Error("nothing is restored here");
  },
  newInstance: (name, namespace, spec) => Store({ name, namespace, spec }),
};
const users = {
  ensureUser: async () => {},
  proveLogin: async () => {},
  dropUser: async () => {},
  connection: async () => ({}),
};
const stores = controller(Store, { owns: [Pod], reconcile: async () => {} });

function init(present: Partial<EngineControl<Store>> = {}): DataServiceInit<Store> {
  const acceptance = {
    engine: { ...engine, ...present },
    instance: (name: string, namespace: string) => Store({ name, namespace, spec: {} }),
    changes: () => [],
    unsettled: () => undefined,
    victim: () => undefined,
    creates: [Pod],
  };
  return { acceptance, image: undefined, controllers: [stores] };
}

const kindsOf = (of: DataServiceInit<Store>): readonly string[] =>
  defineDataService(of).controllers.map(({ kind }) => kind.kind);

test("an engine brings one controller, and its operator has those of backups and acceptance runs", () => {
  const shared = ["Backup", "BackupPlan", "Restore", "RestoreDrill", "AcceptanceRun"];
  expect(defineDataService(init()).name).toBe("store");
  expect(kindsOf(init())).toEqual(["Store", ...shared]);
});

test("bindings and operations come with an engine that has them", () => {
  const operations = {
    name: "store",
    kind: Store,
    types: [],
    disruptive: [],
    windows: () => [],
    advance: async () => ({ state: "done" as const, message: "" }),
  };
  expect(kindsOf(init({ users }))).toContain("ServiceBinding");
  expect(kindsOf({ ...init(), operations })).toContain("Operation");
});

test("the writes of its own controllers take the place of the shared ones, and each right is granted once", () => {
  const writes = new Map([[Pod, ["create", "patch", "delete"] as const]]);
  const { rules } = defineDataService({ ...init(), writes });
  const podRules = rules.filter(({ resources }) => resources?.includes("pods"));
  expect(podRules.map(({ verbs }) => verbs)).toEqual([["get", "list", "watch", "create", "patch", "delete"]]);
  const storeRules = rules.filter(({ resources }) => resources?.includes("stores"));
  expect(storeRules.flatMap(({ verbs }) => verbs).toSorted()).toEqual([
    ...["create", "delete", "get", "list", "patch", "watch"],
  ]);
});

test("every engine may read the labels of the Secrets that stores name", () => {
  const { rules } = defineDataService(init());
  expect(rules.some(({ resources, verbs }) => resources?.includes("secrets") && verbs.includes("get"))).toBe(true);
});

test("the claim for the data of a restore is the first one under its own name, owned by the instance", () => {
  const metadata = { name: "a", uid: "u", resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" };
  const store = { ...Store({ name: "a", spec: {} }), metadata };
  const spec = { accessModes: ["ReadWriteOnce" as const], resources: { requests: { storage: "1Gi" } } };
  const claim = preparedClaim(store, PersistentVolumeClaim({ name: "data-a", spec }), "r1");
  expect(claim).toMatchObject({ spec, metadata: { name: "data-a-r1" } });
  expect(claim.metadata.ownerReferences).toMatchObject([{ kind: "Store", name: "a", uid: "u", controller: true }]);
});
