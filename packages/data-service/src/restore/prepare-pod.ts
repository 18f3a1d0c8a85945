/** The pod that fills the claim of the first member; pure. */
import type { Pod } from "setpoint/kinds";
import { agentPaths } from "../agent/request.ts";
import type { DataFolder } from "../engine/control.ts";
import { claimMount, type Mount, storeMounts } from "../transfer/store-mounts.ts";
import { agentContainer, podOf, restricted, scratch, type Transfer } from "../transfer/transfer-pod.ts";
import type { ReplaySettings } from "../engine/target.ts";
import { dataFolderPaths } from "./seen-restore.ts";

/**
 * First the agent writes the verified snapshot to a folder of the pod, then the engine's own tool turns it
 * into the data folder. The tool gets neither the store nor its keys. With a replay, the agent writes the log
 * to a folder of the claim.
 */
export function preparePod(
  transfer: Transfer,
  { image, command, user }: DataFolder,
  claimName: string,
  replay?: ReplaySettings,
): Pod {
  const snapshot: Mount = {
    volume: { name: "snapshot", emptyDir: {} },
    path: agentPaths.snapshotFolder,
    readOnly: false,
  };
  const data = claimMount("data", claimName, dataFolderPaths.claimFolder, false);
  const ofStore = [...storeMounts(transfer.store, false), snapshot, scratch()];
  // A log can be larger than the node's disk, and the engine reads it while it starts.
  const ofAgent = replay === undefined ? ofStore : [...ofStore, data];
  const fetch = { ...agentContainer(transfer, ofAgent), name: "fetch" };
  const tool = {
    name: "prepare",
    image,
    command: [...command, ...(replay?.args ?? [])],
    ...restricted([{ ...snapshot, readOnly: true }, data, scratch()]),
  };
  return podOf(transfer, [...ofStore, data], { initContainers: [fetch], containers: [tool] }, user);
}
