/** A place for backups in the simulated world. Only tests import this. */
import { BackupStore, dataLabels } from "@setpoint/data-service";
import { PersistentVolumeClaim } from "setpoint/kinds";

/** The BackupStore "vault", and the claim that it may use. */
export const vault: readonly [PersistentVolumeClaim, BackupStore] = [
  PersistentVolumeClaim({
    name: "vault",
    labels: { [dataLabels.backupStore]: "true" },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  }),
  BackupStore({ name: "vault", spec: { claim: { claimName: "vault" } } }),
];
