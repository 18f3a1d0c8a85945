/** The operator on stage in the simulated world. Only tests import this. */
import { Backup, BackupStore } from "@setpoint/data-service";
import { PersistentVolumeClaim } from "setpoint/kinds";
import { type Setting, simulate, simulatedOperatorImage, TransferModel, type World } from "setpoint/testing";
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
  const transfers = new TransferModel({ "key-value": (source) => server.snapshot(source) });
  return { server, transfers, models: [server, transfers], operators: [keyValueOperator(image)] };
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
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
});

export const ordersReference = { apiGroup: "keyvalue.setpoint.dev", kind: "KeyValueStore", name: "orders" };

export function backup(name: string, spec: Partial<Backup["spec"]> = {}): Backup {
  return Backup({ name, spec: { instance: ordersReference, store: "vault", ...spec } });
}
