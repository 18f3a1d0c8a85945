/** Runs the steps one after the other, under a writer, and stops at the first that does not hold. */
import type { KindRef } from "@setpoint/client";
import { isNotFound } from "@setpoint/apimachinery";
import { Backup, BackupStore, Restore } from "@setpoint/data-service";
import { PostgresCluster } from "@setpoint/postgres-operator";
import { PersistentVolumeClaim, Pod } from "setpoint/kinds";
import type { Print } from "../../tours/example.ts";
import { runStep } from "../../tours/run-step.ts";
import { ledgerPodName } from "./ledger-pod.ts";
import { LedgerWriter } from "./ledger-writer.ts";
import type { PostgresUnderTour } from "./postgres-under-tour.ts";
import { backupName, copyOf, steps, store } from "./steps.ts";

/** Whether all steps held; the failed step's name has been printed. */
export async function runTour(cluster: PostgresUnderTour, print: Print): Promise<boolean> {
  const writer = new LedgerWriter(cluster);
  const begins = await runStep("write through the Service of the primary", print, async () => {
    await writer.start();
    return `as ${await writer.sql("select current_user")}, over TLS`;
  });
  if (!begins) return false;
  for (const step of steps) if (!(await runStep(step.name, print, () => step.run(cluster, writer)))) return false;
  const ledgerHolds = await runStep("the ledger", print, async () => {
    const { acknowledged, lost, longestPauseSeconds } = await writer.finish();
    if (lost.length > 0) throw new Error(`${lost.length} acknowledged writes are lost, the first is ${lost[0]}`);
    return `${acknowledged} writes acknowledged, 0 lost, longest pause ${longestPauseSeconds.toFixed(1)} s`;
  });
  if (!ledgerHolds) return false;
  return runStep("delete the PostgresClusters, the backup and its store", print, async () => {
    await removeEverything(cluster);
    return "pods and volumes are gone";
  });
}

/** What the tour and its example have made, whichever of it there is. */
export async function removeEverything(cluster: PostgresUnderTour): Promise<void> {
  const objects: readonly (readonly [KindRef, string])[] = [
    [Pod, ledgerPodName(cluster.name)],
    [Restore, copyOf(cluster)],
    [PostgresCluster, copyOf(cluster)],
    [PostgresCluster, cluster.name],
    // A Backup deletes its data first, for which its store must be there.
    [Backup, backupName],
    [BackupStore, store],
    [PersistentVolumeClaim, store],
  ];
  for (const [kind, name] of objects) await remove(cluster, kind, name);
  const labelSelector = `postgres.setpoint.dev/cluster in (${cluster.name}, ${copyOf(cluster)})`;
  await cluster.until("the end of pods and volumes", async () => {
    const lists = await Promise.all(
      [Pod, PersistentVolumeClaim].map((kind: KindRef) =>
        cluster.client.listAll(kind, { namespace: cluster.namespace, labelSelector }),
      ),
    );
    return lists.every(({ items }) => items.length === 0) ? true : undefined;
  });
}

async function remove(cluster: PostgresUnderTour, kind: KindRef, name: string): Promise<void> {
  const { client, namespace } = cluster;
  await client.delete(kind, { name, namespace }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
  await cluster.until(`the end of ${kind.kind} "${name}"`, () => cluster.isGone(kind, name));
}
