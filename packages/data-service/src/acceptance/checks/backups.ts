/** Backups can be restored, and damaged ones are refused. */
import type { KindRef } from "setpoint";
import { PersistentVolumeClaim, Pod } from "setpoint/kinds";
import { Backup } from "../../kinds/backup.ts";
import { BackupStore } from "../../kinds/backup-store.ts";
import { dataLabels } from "../../kinds/labels.ts";
import { Restore } from "../../kinds/restore.ts";
import { storeRequest } from "../../transfer/store-mounts.ts";
import { transferPod } from "../../transfer/transfer-pod.ts";
import { podReason, transferResult } from "../../transfer/transfer-result.ts";
import { removeCopies } from "../clean-up.ts";
import { type Check, type CheckContext, type CheckStep, done, failed, type StepReport, waiting } from "../check.ts";
import { referenceToMain, settled } from "../instances.ts";
import { nameOf, namespaceOf, read } from "../objects.ts";
import { completeProbe, firstKeys } from "../probes.ts";

const storage = "1Gi";
const storePart = "store";
const copyPart = "copy";
const refusedPart = "refused";

export const backupAndRestore: Check = {
  name: "backup-and-restore",
  needs: "create-and-use",
  steps: [
    createStore,
    backUp("good"),
    (context) => succeeded(context, Backup, "good"),
    restore("good", copyPart),
    (context) => succeeded(context, Restore, "good"),
    (context) => settled(context, copyPart),
    ...completeProbe({ ...firstKeys, name: "copy-read", task: "read", instance: copyPart }),
    removeCopies,
  ],
};

export const damagedBackupRefused: Check = {
  name: "damaged-backup-refused",
  needs: "create-and-use",
  steps: [
    createStore,
    backUp("bad"),
    (context) => succeeded(context, Backup, "bad"),
    damage,
    restore("bad", refusedPart),
    isRefused,
  ],
};

async function createStore(context: CheckContext): Promise<StepReport> {
  const { api } = context;
  const place = { name: nameOf(context, storePart), namespace: namespaceOf(context) };
  const spec = { accessModes: ["ReadWriteOnce"] as const, resources: { requests: { storage } } };
  const labels = { [dataLabels.backupStore]: "true" };
  await api.create(PersistentVolumeClaim({ ...place, labels, spec }));
  await api.create(BackupStore({ ...place, spec: { claim: { claimName: place.name } } }));
  return done;
}

/** The store goes with the run, so the data in it need not be deleted before. */
function backUp(part: string): CheckStep {
  return async (context) => {
    const spec = {
      instance: referenceToMain(context),
      store: nameOf(context, storePart),
      deletionPolicy: "Retain" as const,
      deadlineSeconds: context.run.spec.checkTimeoutSeconds,
    };
    await context.api.create(Backup({ name: nameOf(context, part), namespace: namespaceOf(context), spec }));
    return done;
  };
}

function restore(part: string, target: string): CheckStep {
  return async (context) => {
    const spec = {
      instance: referenceToMain(context),
      source: { backup: nameOf(context, part) },
      newInstance: { name: nameOf(context, target) },
      deadlineSeconds: context.run.spec.checkTimeoutSeconds,
    };
    await context.api.create(Restore({ name: nameOf(context, part), namespace: namespaceOf(context), spec }));
    return done;
  };
}

async function succeeded(
  context: CheckContext,
  kind: KindRef<Backup> | KindRef<Restore>,
  part: string,
): Promise<StepReport> {
  const name = nameOf(context, part);
  const object = await read<Backup | Restore>(context, kind, name);
  if (object === undefined) return failed(`${kind.kind} "${name}" does not exist`);
  const { phase = "not yet reconciled", message } = object.status ?? {};
  if (phase === "Succeeded") return done;
  const text = `${kind.kind} "${name}" is ${phase}${message === undefined ? "" : `: ${message}`}`;
  return phase === "Failed" ? failed(text) : waiting(text);
}

/** Changes one byte of the stored data, by a pod that mounts the store. */
async function damage(context: CheckContext): Promise<StepReport> {
  const name = nameOf(context, "damage");
  const pod = await read(context, Pod, name);
  if (pod === undefined) return startDamage(context, name);
  const result = transferResult(pod);
  if (result?.outcome === "failed") return failed(`the stored backup could not be damaged: ${result.message}`);
  return result === undefined ? waiting(`the stored backup is being damaged${podReason(pod)}`) : done;
}

async function startDamage(context: CheckContext, name: string): Promise<StepReport> {
  const { acceptance, api, run, image = "" } = context;
  const store = await read(context, BackupStore, nameOf(context, storePart));
  const backup = await read(context, Backup, nameOf(context, "bad"));
  if (store === undefined || backup?.status?.object === undefined)
    return failed("the store or the backup of the check is gone");
  const { object } = backup.status;
  const request = { task: "damage", engine: acceptance.engine.name, store: storeRequest(store), object } as const;
  const place = { name, namespace: namespaceOf(context), owner: "acceptancerun" };
  await api.create(transferPod({ ...place, request, store, image, deadlineSeconds: run.spec.checkTimeoutSeconds }));
  return waiting("the stored backup is being damaged");
}

/** The source is verified first: neither a success nor an instance may come of damaged data. */
async function isRefused(context: CheckContext): Promise<StepReport> {
  const { engine } = context.acceptance;
  const restored = await read(context, Restore, nameOf(context, "bad"));
  const { phase = "not yet reconciled", message = "" } = restored?.status ?? {};
  if (phase === "Succeeded") return failed("a backup with a changed byte was restored");
  const refused = nameOf(context, refusedPart);
  const instance = await read(context, engine.kind, refused);
  if (instance !== undefined) return failed(`${engine.kind.kind} "${refused}" was created from a damaged backup`);
  if (phase !== "Failed") return waiting(`the Restore of a damaged backup is ${phase}: ${message}`);
  // A failure for another reason, such as a store that does not answer, proves nothing.
  return message.includes("BackupDamaged") ? done : failed(`the Restore failed for another reason: ${message}`);
}
