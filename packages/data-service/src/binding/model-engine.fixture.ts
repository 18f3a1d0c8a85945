/**
 * An engine whose instances are objects without pods, and whose users are in memory: for tests of bindings.
 */
import { defineKind, defineOperator, type ObjectOf, type Operator } from "setpoint";
import type { OperatorProcess } from "setpoint/testing";
import { z } from "zod";
import type { Rights, UserCredentials } from "../engine/control.ts";
import type { EngineWithUsers } from "./observe-binding.ts";
import { planBinding } from "./plan-binding.ts";
import { bindingController, serviceBindingRules } from "./service-bindings.ts";

/** An instance of the model; its spec says in what state it is. */
export const Shelf = defineKind({
  group: "model.setpoint.dev",
  version: "v1",
  kind: "Shelf",
  spec: z.object({ serving: z.boolean().default(true), host: z.string().default("shelf.example") }),
});
export type Shelf = ObjectOf<typeof Shelf>;

interface ModelUser {
  readonly password: string;
  readonly rights: Rights;
}

/** The users of all instances. Each function does what the engine's own API would do. */
export class ModelUsers {
  /** By the UID of the instance, then by name. */
  readonly #users = new Map<string, Map<string, ModelUser>>();
  /** What users own, as `UID of the instance/thing`. */
  readonly owners: Map<string, string> = new Map();
  /** Every password that was ever set. */
  readonly passwords: Set<string> = new Set();
  readonly drops: { readonly user: string; readonly heir: string | undefined }[] = [];

  of(instance: string): Map<string, ModelUser> {
    const users = this.#users.get(instance) ?? new Map<string, ModelUser>();
    this.#users.set(instance, users);
    return users;
  }

  accepts(instance: string, { user, password }: UserCredentials): boolean {
    return this.of(instance).get(user)?.password === password;
  }

  set(instance: string, { user, password }: UserCredentials, rights: Rights): void {
    this.passwords.add(password);
    this.of(instance).set(user, { password, rights });
  }

  drop(instance: string, user: string, heir: string | undefined): void {
    if (!this.of(instance).delete(user)) return;
    this.drops.push({ user, heir });
    for (const [thing, owner] of this.owners)
      if (owner === user && thing.startsWith(`${instance}/`)) this.owners.set(thing, heir ?? "administrator");
  }
}

/** The engine over the model. Its calls go through the operator's process, so that faults strike them. */
export function modelEngine(model: ModelUsers, process: OperatorProcess): EngineWithUsers<Shelf> {
  return {
    name: "shelf",
    kind: Shelf,
    state: ({ spec }) => ({ serving: spec.serving, engineVersion: "1" }),
    source: () => ({ request: {} }),
    dataFolder: () => {
      throw new Error("Cannot make a data folder: the model has none");
    },
    newInstance: (name, namespace, spec) => Shelf({ name, namespace, spec }),
    users: {
      ensureUser: ({ metadata: { uid } }, login, rights) =>
        process.call(`users ensure ${login.user}`, "write", async () => {
          refuseUnknown(rights, login);
          model.set(uid, login, rights);
        }),
      proveLogin: ({ metadata: { uid } }, login) =>
        process.call(`users prove ${login.user}`, "look", async () => {
          if (!model.accepts(uid, login)) throw new Error(`invalid password ${login.password} of ${login.user}`);
        }),
      dropUser: ({ metadata: { uid } }, user, heir) =>
        process.call(`users drop ${user}`, "write", async () => model.drop(uid, user, heir)),
      connection: async ({ spec: { host } }, { user, password }) => ({
        host,
        port: "1234",
        uri: `shelf://${user}:${password}@${host}:1234`,
      }),
    },
  };
}

/** A careless engine repeats what it was given, as many do. */
function refuseUnknown(rights: Rights, { password }: UserCredentials): void {
  const unknown = Object.keys(rights).find((right) => !["read", "write"].includes(right));
  if (unknown !== undefined) throw new Error(`there is no right "${unknown}" (password: ${password})`);
}

/** An operator that plans as it should, or as a test says. */
export function modelOperator(model: ModelUsers, process: OperatorProcess, plan = planBinding): Operator {
  return defineOperator({
    name: "shelf",
    kinds: [Shelf],
    controllers: [bindingController(modelEngine(model, process), plan)],
    permissions: serviceBindingRules,
  });
}
