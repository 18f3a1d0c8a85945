/** What an observation makes of an instance that does not answer. */
import type { KindRef, KubeObject, ReconcileContext, Stored } from "setpoint";
import { simulatedHost } from "@setpoint/host/simulated";
import { Secret } from "setpoint/kinds";
import { expect, test } from "vitest";
import { type Login, ServiceBinding } from "../kinds/service-binding.ts";
import { bindingSecret } from "./binding-secret.ts";
import { Shelf } from "./model-engine.fixture.ts";
import { type EngineWithUsers, observeBinding } from "./observe-binding.ts";
import { OverlapTimer } from "./overlap-timer.ts";
import type { SeenBinding } from "./seen-binding.ts";

function stored<T extends KubeObject>(object: T): Stored<T> {
  const created = { uid: "u", resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" };
  return { ...object, metadata: { name: "", ...object.metadata, ...created } };
}

const silent = {
  name: "shelf",
  kind: Shelf,
  state: () => ({ serving: true, engineVersion: "1" }),
  users: { proveLogin: () => Promise.reject(new Error("timeout")) },
} as unknown as EngineWithUsers<Shelf>;

const instance = { apiGroup: Shelf.group, kind: Shelf.kind, name: "books" };
const plain = stored(ServiceBinding({ name: "reader", spec: { instance } }));
const published = bindingSecret(plain, "shelf", { user: "sb-u-1", password: "p" }, {});
const ownerReferences = [{ apiVersion: "v1", kind: "ServiceBinding", name: "reader", uid: "u", controller: true }];
const secret = stored({ ...published, metadata: { ...published.metadata, ownerReferences } });
const shelf = stored(Shelf({ name: "books", spec: {} }));

/** `reported`: what a dry run could not reach. */
function observed(state: Login["state"], reported?: string[]): Promise<SeenBinding> {
  const login: Login = { user: "sb-u-1", generation: 1, state, since: "2026-01-01T11:50:00Z", rights: {} };
  const binding = { ...plain, status: { generation: 1, logins: [login] } };
  const objects = new Map<KindRef, readonly Stored<KubeObject>[]>([
    ...([[Secret, [secret]] as const, [Shelf, [shelf]] as const, [ServiceBinding, [binding]] as const] as const),
  ]);
  const get = (kind: KindRef, name: string): Stored<KubeObject> | undefined =>
    objects.get(kind)?.find(({ metadata }) => metadata.name === name);
  const cannotReach = (what: string): boolean => {
    if (reported === undefined) return false;
    reported.push(what);
    throw new Error("the run ends");
  };
  const { signal } = new AbortController();
  const { clock, random } = simulatedHost(1, Date.parse("2026-01-01T12:00:00Z"));
  const fresh = (kind: KindRef, name: string): Promise<unknown> => Promise.resolve(get(kind, name));
  const context = { get, fresh, signal, host: { clock, random }, controller: { cannotReach } };
  const ports = { engine: silent, overlaps: new OverlapTimer() };
  return observeBinding(binding, context as unknown as ReconcileContext, ports);
}

test("a dry run ends where an instance does not answer to a login that works", async () => {
  const reported: string[] = [];
  await expect(observed("Active", reported)).rejects.toThrow("the run ends");
  expect(reported).toEqual(['Shelf "books" as user "sb-u-1"']);
});

test("a dry run goes on when the login does not exist yet", async () => {
  expect(await observed("Pending", [])).toMatchObject({ proven: false, refused: "timeout" });
});

test("in the cluster, silence is a reason why a login is not proven", async () => {
  expect(await observed("Active")).toMatchObject({ proven: false, refused: "timeout" });
});
