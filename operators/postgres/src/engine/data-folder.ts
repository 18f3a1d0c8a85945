/** The data folder of a restored cluster: what its first instance starts on. */
import { type DataFolder, type DataFolderPaths } from "@setpoint/data-service";
import type { Stored } from "setpoint";
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
if [ ! -e "$2/recovery.conf" ]; then
  echo "restore_command = 'false'" > "$2/recovery.conf"
fi
sync
mv "$new" "$2/pgdata"`;

export function dataFolder(
  cluster: Stored<PostgresCluster>,
  restoreId: string,
  { snapshotFile, claimFolder }: DataFolderPaths,
): DataFolder {
  const [first = ""] = wantedInstances(cluster);
  const claim = instanceClaim(cluster, first, restoreId);
  return {
    image: instanceImage(cluster),
    command: ["sh", "-c", script, "prepare", snapshotFile, claimFolder],
    user: instanceUser,
    claim: { ...claim, metadata: { ...claim.metadata, ownerReferences: [certificatesOf(cluster).place.owner] } },
  };
}
