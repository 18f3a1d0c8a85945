/**
 * Runs the steps one after the other, prints each with its seconds, and stops at the first that does not
 * hold.
 */
import type { Print } from "../../tours/example.ts";
import { runStep } from "../../tours/run-step.ts";
import { useBinding } from "./binding-step.ts";
import type { ClusterUnderTour } from "./cluster-under-tour.ts";
import { LedgerWriter } from "./ledger-writer.ts";
import { recoverySteps, removeCopies } from "./recovery-steps.ts";
import { deleteCluster, stepsUnderWrites } from "./steps.ts";

/** Whether all steps held; the failed step's name has been printed. */
export async function runTour(cluster: ClusterUnderTour, print: Print): Promise<boolean> {
  const endpoint = await cluster.clientEndpoint();
  await using writer = new LedgerWriter(endpoint);
  for (const step of [...stepsUnderWrites, ...recoverySteps, useBinding]) {
    if (!(await runStep(step.name, print, () => step.run(cluster, writer)))) return false;
  }
  const ledgerHolds = await runStep("the ledger", print, async () => {
    const report = await writer.finish();
    if (report.lost.length > 0)
      throw new Error(`${report.lost.length} acknowledged writes are lost, the first is ${report.lost[0]}`);
    return `${report.acknowledged} writes acknowledged, 0 lost, ${report.errors} errors, longest gap ${(report.longestGapMs / 1000).toFixed(1)} s`;
  });
  if (!ledgerHolds) return false;
  return runStep("delete the EtcdClusters, the backup and its store", print, async () => {
    await removeCopies(cluster);
    return deleteCluster(cluster);
  });
}
