/** The operator on stage in the simulated world. Only tests import this. */
import { Backup, BackupStore, dataLabels } from "@setpoint/data-service";
import { PersistentVolumeClaim } from "setpoint/kinds";
import {
  type OperatorProcess,
  type Setting,
  simulate,
  simulatedOperatorImage,
  TransferModel,
  type World,
} from "setpoint/testing";
import type { KeyValueUsers } from "../key-value-engine.ts";
import { keyValueOperator } from "../key-value-operator.ts";
import { KeyValueStore } from "../key-value-store.ts";
import { KeyValueModel } from "./key-value-model.ts";

export interface Stage {
  readonly world: World;
  readonly server: KeyValueModel;
  readonly transfers: TransferModel;
}

export interface KeyValueSetting extends Setting {
  readonly server: KeyValueModel;
  readonly transfers: TransferModel;
}

export function keyValueSetting(image: string | undefined = simulatedOperatorImage): KeyValueSetting {
  const server = new KeyValueModel();
  const transfers = new TransferModel({ "key-value": (source) => server.snapshot(source) }, { "key-value": server });
  return {
    server,
    transfers,
    models: [server, transfers],
    operators: [(process) => keyValueOperator(image, simulatedUsers(server, process))],
  };
}

/** Calls go out through the operator's process, so that faults strike them. */
function simulatedUsers(server: KeyValueModel, process: OperatorProcess): KeyValueUsers {
  return {
    set: (store, { user, password }) =>
      process.call(`users set ${user}`, "write", async () => server.setUser(store, user, password)),
    login: (store, { user, password }) =>
      process.call(`users prove ${user}`, "look", async () => {
        if (server.users(store)[user] !== password) throw new Error(`the server refuses user ${user}`);
      }),
    drop: (store, user) =>
      process.call(`users drop ${user}`, "write", async () => server.setUser(store, user, undefined)),
  };
}

/** A world with a KeyValueStore that serves, and a BackupStore. */
export async function setUp(seed: number, image: string | undefined = simulatedOperatorImage): Promise<Stage> {
  const { server, transfers, ...setting } = keyValueSetting(image);
  const world = await simulate({ seed, ...setting });
  await world.apply(keyValueStore("orders"));
  await world.apply(vault);
  await world.settled();
  return { world, server, transfers };
}

export function keyValueStore(name: string): KeyValueStore {
  return KeyValueStore({ name, spec: {} });
}

export const vault: BackupStore = BackupStore({ name: "vault", spec: { claim: { claimName: "vault" } } });

export const storeClaim: PersistentVolumeClaim = PersistentVolumeClaim({
  name: "vault",
  labels: { [dataLabels.backupStore]: "true" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
});

export const ordersReference = { apiGroup: "keyvalue.setpoint.dev", kind: "KeyValueStore", name: "orders" };

export function backup(name: string, spec: Partial<Backup["spec"]> = {}): Backup {
  return Backup({ name, spec: { instance: ordersReference, store: "vault", ...spec } });
}
