/** The operator on stage in the simulated world. Only tests import this. */
import { Backup, BackupStore, dataLabels } from "@setpoint/data-service";
import { PersistentVolumeClaim } from "setpoint/kinds";
import {
  type OperatorProcess,
  type Setting,
  simulate,
  simulatedOperatorImage as image,
  type World,
} from "setpoint/testing";
import { AppendLog } from "../append-log.ts";
import { appendLogOperator } from "../append-log-operator.ts";
import type { LogGateway } from "../log-gateway.ts";
import { AppendLogModel } from "./append-log-model.ts";

export interface Stage {
  readonly world: World;
  readonly model: AppendLogModel;
}

export function appendLogSetting(): Setting & { readonly model: AppendLogModel } {
  const model = new AppendLogModel();
  const operators = [
    (process: OperatorProcess) =>
      appendLogOperator(simulatedGateway(model, process), { image, command: ["append-log"] }),
  ];
  return { model, models: [model], operators };
}

/** Calls go out through the operator's process, so that faults strike them. */
function simulatedGateway(model: AppendLogModel, process: OperatorProcess): LogGateway {
  return {
    report: (address) => process.call("log report", "look", () => model.report(address)),
    promote: (address, timeline) =>
      process.call(`log promote ${timeline}`, "write", async () => model.serverAt(address).promote(timeline)),
    follow: (address, primary) =>
      process.call("log follow", "write", async () => model.serverAt(address).follow(primary)),
  };
}

/** A world with an AppendLog that serves, and archives in a store. */
export async function setUp(seed: number): Promise<Stage> {
  const { model, ...setting } = appendLogSetting();
  const world = await simulate({ seed, ...setting });
  for (const object of [storeClaim, vault, orders]) await world.apply(object);
  await world.settled();
  return { world, model };
}

export const orders: AppendLog = AppendLog({ name: "orders", spec: { members: 2, store: "vault" } });

export const vault: BackupStore = BackupStore({ name: "vault", spec: { claim: { claimName: "vault" } } });

export const storeClaim: PersistentVolumeClaim = PersistentVolumeClaim({
  name: "vault",
  labels: { [dataLabels.backupStore]: "true" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
});

export const ordersReference = { apiGroup: "appendlog.setpoint.dev", kind: "AppendLog", name: "orders" };

export function backup(name: string): Backup {
  return Backup({ name, spec: { instance: ordersReference, store: "vault" } });
}
