/** The data folder of a restored cluster: what its first instance starts on. */
import { type DataFolder, type DataFolderPaths } from "@setpoint/data-service";
import type { Stored } from "setpoint";
import { recoveryFile } from "./postgres-target.ts";
import { certificatesOf } from "../kind/certificates.ts";
import { instanceClaim, instanceImage, instanceUser } from "../kind/instance-pod.ts";
import { wantedInstances } from "../kind/names.ts";
import type { PostgresCluster } from "../kind/postgres-cluster.ts";

/**
 * Unpacks the base backup, and leaves the server what it needs to recover when it starts for the first time.
 * It replays all of the log that is there, and ends on a timeline of its own, so that its log is never taken
 * for that of the original. The folder gets its name when it is complete.
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
  echo "restore_command = 'false'" > "$2/recovery.conf"
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
    command: ["sh", "-c", script, "prepare", snapshotFile, claimFolder, replayFolder],
    user: instanceUser,
    claim: { ...claim, metadata: { ...claim.metadata, ownerReferences: [certificatesOf(cluster).place.owner] } },
  };
}
