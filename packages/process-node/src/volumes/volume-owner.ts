/** Who owns a pod's volumes: user 0 of the pod and its fsGroup, as ids of the host. */
import type { Pod } from "@setpoint/api";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { statSync } from "node:fs";
import { messageOf } from "@setpoint/apimachinery";
import type { IdRange, PodIds } from "../host/id-range.ts";
import { nodeError } from "../errors.ts";

export interface VolumeOwner {
  readonly uid: number;
  readonly gid: number;
}

const run = promisify(execFile);
const groupFolder = 0o2770;

/** Undefined where the node gives all ids to the one user that it is itself. */
export function volumeOwner({ uids, gids }: PodIds, pod: Pod): VolumeOwner | undefined {
  if (uids.size === 1) return undefined;
  const gid = hostId(gids, pod.spec.securityContext?.fsGroup ?? 0);
  const uid = hostId(uids, 0);
  if (uid !== undefined && gid !== undefined) return { uid, gid };
  throw nodeError("ERR_CONTAINER_CONFIG", `Cannot give volumes to fsGroup: it is outside of the pod's range of ids`);
}

/** The id on the host, undefined for one that the pod does not have. */
export function hostId({ container, host, size }: IdRange, id: number): number | undefined {
  return id >= container && id < container + size ? id - container + host : undefined;
}

/**
 * Gives a persistent volume to the group, as `fsGroup` asks: all its files, without following links, unless
 * the policy is content with the folder itself. The volume keeps its ids on disk, so the group is the pod's.
 */
export async function giveToGroup(pod: Pod, folder: string): Promise<void> {
  const { fsGroup, fsGroupChangePolicy } = pod.spec.securityContext ?? {};
  if (fsGroup === undefined || process.getuid?.() !== 0) return;
  const { gid, mode } = statSync(folder);
  const isGiven = gid === fsGroup && (mode & groupFolder) === groupFolder;
  if (isGiven && fsGroupChangePolicy === "OnRootMismatch") return;
  const args = ["--mount", "--propagation", "private", "/bin/sh", "-c", giveScript, "sh", folder, String(fsGroup)];
  try {
    await run("/usr/bin/unshare", args, { env: {} });
  } catch (error) {
    throw nodeError("ERR_CONTAINER_CONFIG", `Cannot give volume to group ${fsGroup}: ${messageOf(error)}`, error);
  }
}

/** Another pod may change the volume meanwhile, so the kernel follows no link in this view of it. */
const giveScript = `set -eu
PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -n -c --bind "$1" "$1"
mount -n -c -o remount,bind,nosymfollow "$1"
cd "$1"
chown -RhP ":$2" .
chmod -R g+rwX .
find . -type d -exec chmod g+s {} +`;
