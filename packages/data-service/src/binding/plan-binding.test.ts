/** What a binding does in each situation. */
import { Secret } from "setpoint/kinds";
import type { KubeObject, Stored } from "setpoint";
import { expect, test } from "vitest";
import { type Login, ServiceBinding } from "../kinds/service-binding.ts";
import { Shelf } from "./model-engine.fixture.ts";
import { planBinding } from "./plan-binding.ts";
import type { SeenBinding, SeenSecret } from "./seen-binding.ts";

const nowMs = Date.parse("2026-01-01T12:00:00Z");
const created = { uid: "u", resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" };

function stored<T extends KubeObject>(object: T, name: string): Stored<T> {
  return { ...object, metadata: { ...object.metadata, name, ...created } };
}

function login(number: number, state: Login["state"], since = "2026-01-01T11:50:00Z"): Login {
  return { user: `sb-u-${number}`, generation: number, state, since, rights: {} };
}

function holding(number: number): SeenSecret {
  const secret = stored(Secret({ name: "reader" }), "reader");
  return { kind: "ours", secret, login: { user: `sb-u-${number}`, password: "p" } };
}

interface Situation {
  readonly logins?: readonly Login[];
  readonly secret?: SeenSecret;
  readonly keeper?: SeenSecret;
  readonly spec?: object;
  readonly status?: object;
  readonly serving?: boolean;
  readonly more?: Partial<SeenBinding>;
}

function seen({ logins = [], spec = {}, status = {}, serving = true, more, ...secrets }: Situation): SeenBinding {
  const instance = { apiGroup: Shelf.group, kind: Shelf.kind, name: "books" };
  const binding = stored(ServiceBinding({ name: "reader", spec: { instance, ...spec } }), "reader");
  const absent: SeenSecret = { kind: "absent" };
  return {
    binding: { ...binding, status: { generation: logins.length, ...status } },
    engine: "shelf",
    secretName: "reader",
    instance: { object: stored(Shelf({ name: "books", spec: {} }), "books"), state: { serving, engineVersion: "1" } },
    secret: secrets.secret ?? absent,
    keeper: secrets.keeper ?? absent,
    logins,
    remainingMs: {},
    refused: undefined,
    proven: secrets.secret !== undefined,
    outdated: [],
    keeperOutdated: [],
    ...more,
  };
}

const active = { logins: [login(1, "Active")], secret: holding(1), keeper: holding(1) };
const rotating = { ...active, logins: [login(1, "Active"), login(2, "Pending")] };
const overlapping = {
  logins: [login(1, "Retiring"), login(2, "Active")],
  secret: holding(2),
  keeper: holding(2),
  more: { remainingMs: { "sb-u-1": 1 } },
};

const restoredState = { serving: true, engineVersion: "1", restored: "r1" };
const restored = {
  logins: [login(2, "Active")],
  secret: holding(2),
  keeper: holding(2),
  more: { instance: { object: stored(Shelf({ name: "books", spec: {} }), "books"), state: restoredState } },
};

const table: readonly (readonly [string, Situation, string])[] = [
  ["nothing is there", {}, "prepareLogin sb-u-1"],
  ["a password is kept", { logins: [login(1, "Pending")], keeper: holding(1) }, "issueLogin sb-u-1"],
  ["the record was written and the password was not", { logins: [login(1, "Pending")] }, "prepareLogin sb-u-1"],
  ["the login works", active, "rest"],
  ["the instance refuses the login", { ...active, more: { proven: false, refused: "no" } }, "restoreLogin sb-u-1"],
  ["the rights have changed", { ...active, spec: { rights: { read: "*" } } }, "grantRights sb-u-1"],
  ["the address has changed", { ...active, more: { outdated: ["host"] } }, "publishConnection"],
  ["the published Secret is gone", { ...active, secret: { kind: "absent" } }, "issueLogin sb-u-1"],
  ["both Secrets are gone", { logins: active.logins }, "prepareLogin sb-u-2"],
  ["a rotation is requested", { ...active, spec: { rotation: { request: "now" } } }, "prepareLogin sb-u-2"],
  ["a login is as old as it may be", { ...active, spec: { rotation: { every: "10m" } } }, "prepareLogin sb-u-2"],
  ["a login is younger than that", { ...active, spec: { rotation: { every: "11m" } } }, "rest"],
  ["a rotation was interrupted", rotating, "prepareLogin sb-u-2"],
  ["a rotation was interrupted after its password", { ...rotating, keeper: holding(2) }, "issueLogin sb-u-2"],
  ["the overlap lasts", overlapping, "rest"],
  ["the overlap is over", { ...overlapping, more: { remainingMs: { "sb-u-1": 0 } } }, "dropLogin sb-u-1"],
  [
    "the overlap is over, and the new login does not work",
    { ...overlapping, more: { remainingMs: { "sb-u-1": 0 }, proven: false, refused: "no" } },
    "restoreLogin sb-u-2",
  ],
  ["the instance was restored to a time before the rotation", restored, "dropRestored"],
  ["the instance does not serve", { ...active, serving: false }, 'wait: Shelf "books" does not serve'],
  ["there is no instance", { more: { instance: undefined } }, 'wait: Shelf "books" does not exist'],
];

test.each(table)("when %s", (_situation, situation, wanted) => {
  const step = planBinding(seen(situation), nowMs);
  if (step.kind === "rest") expect("rest").toBe(wanted);
  else if (step.kind === "wait") expect(`wait: ${step.reason}`).toBe(wanted);
  else expect(`${step.action} ${"user" in step.args ? step.args.user : ""}`.trim()).toBe(wanted);
});
