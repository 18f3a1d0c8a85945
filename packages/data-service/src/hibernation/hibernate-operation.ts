/**
 * The Operations Hibernate and Wake for any engine with `spec.hibernated`. They write the spec, which stays
 * the only truth, and wait until the engine's controller has followed.
 */
import type { KubeObject } from "@setpoint/apimachinery";
import { type KindRef, type ReconcileContext, seconds, type Stored } from "setpoint";
import type { OperationReport } from "../operations/operation-step.ts";
import type { OperationType } from "../kinds/operation.ts";

/** An instance that can hibernate. */
export interface HibernatingInstance extends KubeObject {
  readonly spec: { readonly hibernated: boolean };
  readonly status?: { readonly phase: string } | undefined;
}

/** How many members an instance has when it is awake, and how many of them answer. */
export interface AwakeMembers {
  readonly wanted: number;
  readonly ready: number;
}

const recheckMs = seconds(2);

/** The next step of a Hibernate or Wake. */
export async function changeHibernation<Instance extends HibernatingInstance>(
  kind: KindRef<Instance>,
  instance: Stored<Instance>,
  { wanted, ready }: AwakeMembers,
  type: OperationType,
  context: ReconcileContext,
): Promise<OperationReport> {
  const { spec, status } = instance;
  const isAsked = type === "Hibernate";
  if (spec.hibernated !== isAsked) await write(kind, instance, isAsked, context);
  if (isAsked && status?.phase === "Hibernated")
    return { state: "done", message: "All members have stopped; volumes are kept" };
  if (isAsked) return { state: "running", message: "Members stop", recheckMs };
  if (!spec.hibernated && status?.phase === "Running" && ready === wanted)
    return { state: "done", message: `All ${wanted} members answer` };
  return { state: "running", message: "Members start", progress: `${ready}/${wanted}`, recheckMs };
}

async function write<Instance extends HibernatingInstance>(
  kind: KindRef<Instance>,
  { metadata: { name, namespace = "" } }: Stored<Instance>,
  hibernated: boolean,
  { client, signal }: ReconcileContext,
): Promise<void> {
  await client.patch(kind, { name, namespace }, { spec: { hibernated } }, { signal });
}
