/** The data folder of a restored cluster: what its first instance starts on. */
import { type DataFolder, type DataFolderPaths } from "@setpoint/data-service";
import type { Stored } from "setpoint";
import { recoveryFile, restoreCommand } from "./postgres-target.ts";
import { certificatesOf } from "../kind/certificates.ts";
import { instanceClaim, instanceImage, instanceUser } from "../kind/instance-pod.ts";
import { wantedInstances } from "../kind/names.ts";
import type { PostgresCluster } from "../kind/postgres-cluster.ts";

/**
 * Unpacks the base backup, and leaves the server what it needs to recover when it starts for the first time.
 * It replays all of the log that is there, and ends on a timeline of its own, so that its log is never taken
 * for that of the original. For a whole backup, which no archive continues, files say which timelines the
 * cluster has had: PostgreSQL takes the first number without one. The folder gets its name at the end.
 */
const script = `set -e
new="$2/pgdata.new"
rm -rf "$new" "$2/pgdata"
mkdir -m 0700 "$new"
tar -xf "$1" -C "$new"
rm -f "$new/standby.signal" "$new/postmaster.pid" "$new/postgresql.auto.conf"
touch "$new/recovery.signal"
if [ -d "$3" ]; then
  rm -rf "$2/archived"
  mv "$3" "$2/archived"
fi
if [ -e "$2/archived/${recoveryFile}" ]; then
  cp "$2/archived/${recoveryFile}" "$2/recovery.conf"
else
  mkdir -p "$2/archived/log"
  timeline=2
  while [ "$timeline" -le "$4" ]; do
    printf '1\\t0/0\\tused before the restore\\n' > "$2/archived/log/$(printf '%08X' "$timeline").history"
    timeline=$((timeline + 1))
  done
  printf '%s\\n' "restore_command = '${restoreCommand}'" "recovery_target_timeline = 'current'" > "$2/recovery.conf"
fi
sync
mv "$new" "$2/pgdata"`;

export function dataFolder(
  cluster: Stored<PostgresCluster>,
  restoreId: string,
  { snapshotFile, claimFolder, replayFolder }: DataFolderPaths,
): DataFolder {
  const [first = ""] = wantedInstances(cluster);
  const claim = instanceClaim(cluster, first, restoreId);
  return {
    image: instanceImage(cluster),
    command: ["sh", "-c", script, "prepare", snapshotFile, claimFolder, replayFolder, String(newestTimeline(cluster))],
    user: instanceUser,
    claim: { ...claim, metadata: { ...claim.metadata, ownerReferences: [certificatesOf(cluster).place.owner] } },
  };
}

/** The newest that the status knows. */
function newestTimeline({ status }: PostgresCluster): number {
  const known = [
    status?.lastTimeline,
    status?.archive?.window?.timeline,
    ...(status?.members ?? []).map((each) => each.timeline),
  ];
  return Math.max(1, ...known.filter((each) => each !== undefined));
}
