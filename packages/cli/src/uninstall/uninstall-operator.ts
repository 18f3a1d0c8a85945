/** Takes an operator out of a cluster in an order in which nothing gets stuck. */
import { isNotFound, isSetpointError, SetpointError, type KubeObject } from "@setpoint/apimachinery";
import { RestMapping, type Client } from "@setpoint/client";
import { sleep, type Clock } from "@setpoint/host";
import type { Operator } from "setpoint";
import {
  dataPolicyName,
  installManifests,
  planFinalizerRemoval,
  removeFinalizers,
  type FinalizerPlan,
} from "setpoint/install";

export interface UninstallOptions {
  readonly operator: Operator;
  readonly client: Client;
  readonly clock: Clock;
  /** Where its Deployment and its lease are. */
  readonly namespace: string;
  /** Also its CustomResourceDefinitions, and with them every object of its kinds. */
  readonly withKinds: boolean;
}

/** A killed operator's lease ends by itself after this; a stopped one releases it. */
const leaseMsMax = 60_000;
const lookMs = 500;

/** What would happen, one sentence a thing. */
export async function planUninstall(options: UninstallOptions): Promise<readonly string[]> {
  const { operator, client, clock } = options;
  // The operator may be running: it is only stopped when it is done in earnest.
  const { sentences } = await planFinalizerRemoval(operator, { client, clock });
  const present = await presentObjects(options);
  return [
    ...present.map((object) => `${titleOf(object)} is deleted`),
    ...sentences,
    ...(options.withKinds ? operator.kinds.map(({ kind }) => `every ${kind} is deleted with its definition`) : []),
  ];
}

/** Printed in place of an empty plan, so that the user sees that the cluster was searched. */
export function nothingThere({ operator, namespace, withKinds }: UninstallOptions): string {
  const kinds = withKinds ? "" : "; its kinds were not looked for: --kinds does that";
  return `Nothing of the operator "${operator.name}" is there: no Deployment in namespace "${namespace}", no finalizers, no rights${kinds}.`;
}

/** Objects own data, which would be deleted with them. */
export const errKindOwnsData = "ERR_KIND_OWNS_DATA";

/**
 * Does it, and says each thing that is done. Errors: `ERR_OPERATOR_RUNNING` when another process keeps
 * running it; `ERR_KIND_OWNS_DATA` when objects that own data would be deleted without the operator.
 */
export async function* uninstallOperator(options: UninstallOptions): AsyncGenerator<string> {
  const { client, operator, namespace } = options;
  await requireNoData(options);
  const name = `${operator.name}-operator`;
  const deployment = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name, namespace } };
  // First nobody may put the finalizers back.
  if (await deleteObject(client, deployment, "Foreground")) yield `Deployment ${namespace}/${name} is deleted`;
  const plan = await planWhenStopped(options);
  const freed = await removeFinalizers(plan, client);
  yield* plan.sentences;
  if (freed > 0) yield `${freed} object${freed === 1 ? " is" : "s are"} free of the operator's finalizers`;
  for (const object of await presentObjects(options)) {
    if (await deleteObject(client, object, "Background")) yield `${titleOf(object)} is deleted`;
  }
}

/** Without its operator an object that is deleted, alone or with its definition, takes its data along. */
async function requireNoData({ operator, client, withKinds }: UninstallOptions): Promise<void> {
  for (const { kind, releaseData } of operator.controllers) {
    if (releaseData === undefined) continue;
    const { items } = await client.listAll(kind).catch((error: unknown) => {
      if (isNotFound(error)) return { items: [] };
      throw error;
    });
    const leaving = items.filter(({ metadata }) => withKinds || metadata.deletionTimestamp !== undefined);
    const first = leaving[0]?.metadata;
    if (first === undefined) continue;
    const named = `${first.namespace === undefined ? "" : `${first.namespace}/`}${first.name}`;
    const count = `${leaving.length} ${kind.kind} objects own data and would be deleted, ${named} first`;
    const way = withKinds
      ? "delete them first, or leave out --kinds"
      : "wait until the operator has released their data";
    const message = `Cannot uninstall operator "${operator.name}": ${count}; ${way}`;
    throw new SetpointError(errKindOwnsData, message);
  }
}

/** Waits for the lease: a process that stops in order releases it; the lease of a killed one expires. */
async function planWhenStopped({ operator, client, clock, namespace }: UninstallOptions): Promise<FinalizerPlan> {
  const deadlineMs = clock.monotonic() + leaseMsMax;
  for (;;) {
    try {
      return await planFinalizerRemoval(operator, { client, clock, leaseNamespace: namespace });
    } catch (error) {
      if (!isSetpointError(error, "ERR_OPERATOR_RUNNING") || clock.monotonic() >= deadlineMs) throw error;
      await sleep(clock, lookMs);
    }
  }
}

/** What the manifests have installed and is still there; the namespace stays, it may hold other things. */
async function presentObjects({
  operator,
  client,
  clock,
  namespace,
  withKinds,
}: UninstallOptions): Promise<readonly KubeObject[]> {
  const extras = ["NetworkPolicy", "PodDisruptionBudget", "MetricsService"] as const;
  const objects = installManifests(operator, { image: "none", namespace, extras });
  const dataPolicy = dataPolicyName(operator.name);
  const isOfKinds = ({ kind, metadata }: KubeObject): boolean =>
    kind === "CustomResourceDefinition" || (metadata.name === dataPolicy && kind.startsWith("ValidatingAdmission"));
  const ours = objects.filter((each) => each.kind !== "Namespace" && (withKinds || !isOfKinds(each)));
  const mapping = new RestMapping(client, { clock });
  const found = await Promise.all(
    ours.map(async (object) => {
      const kind = await mapping.ofObject(object);
      return (await exists(client.get(kind, keyOf(object)))) ? [object] : [];
    }),
  );
  return found.flat().toReversed();
}

async function deleteObject(
  client: Client,
  object: KubeObject,
  propagationPolicy: "Foreground" | "Background",
): Promise<boolean> {
  const kind = (await client.discover()).ofObject(object);
  return exists(client.delete(kind, keyOf(object), { propagationPolicy }));
}

async function exists(asked: Promise<unknown>): Promise<boolean> {
  try {
    await asked;
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

function keyOf({ metadata: { name = "", namespace } }: KubeObject): {
  readonly name: string;
  readonly namespace?: string;
} {
  return namespace === undefined ? { name } : { name, namespace };
}

function titleOf({ kind, metadata: { name, namespace } }: KubeObject): string {
  return `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name ?? ""}`;
}
