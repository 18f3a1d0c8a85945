import { PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from "@setpoint/api";
import type { Stored } from "@setpoint/client";
import {
  controller,
  keyOf,
  watching,
  type CacheReader,
  type ControllerDefinition,
  type ReconcileContext,
} from "@setpoint/runtime";
import { boundStatus, hasStatus, planClaim, type ClaimNotice, type ClaimStep } from "./claim-plan.ts";

const byController = { "pv.kubernetes.io/bound-by-controller": "yes" };
const completed = { "pv.kubernetes.io/bind-completed": "yes" };

/**
 * Binds claims to volumes that are there, and reports what the others wait for. The volumes of the class
 * `folder` are made by the node of the first pod.
 */
export const claimBinder: ControllerDefinition = controller(PersistentVolumeClaim, {
  name: "persistentvolume-binder",
  eventSource: "persistentvolume-controller",
  predicate: () => true,
  // Two claims of one pass must not take the same volume.
  concurrency: 1,
  watches: [
    watching(PersistentVolume, ({ spec }, cache) =>
      spec?.claimRef === undefined
        ? unboundClaims(cache)
        : [{ namespace: spec.claimRef.namespace ?? "", name: spec.claimRef.name ?? "" }],
    ),
    watching(StorageClass, (_, cache) => unboundClaims(cache)),
    watching(Pod, (pod) => claimNames(pod).map((name) => ({ namespace: pod.metadata.namespace ?? "", name })), {
      predicate: () => false,
    }),
  ],
  async reconcile(claim, context) {
    if (claim.metadata.deletionTimestamp !== undefined) return;
    const storageClass = context.get(StorageClass, claim.spec?.storageClassName ?? "");
    const isUsed = context.list(Pod).some((pod) => claimNames(pod).includes(claim.metadata.name));
    await act(planClaim({ claim, volumes: context.list(PersistentVolume), storageClass, isUsed }), claim, context);
  },
});

type Claim = Stored<PersistentVolumeClaim>;
type Volume = Stored<PersistentVolume>;

function claimNames({ spec }: Pod): readonly string[] {
  return (spec?.volumes ?? []).flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []);
}

function unboundClaims(cache: CacheReader): ReturnType<typeof keyOf>[] {
  const all = cache.list(PersistentVolumeClaim, { allNamespaces: true });
  return all.filter(({ status }) => status?.phase !== "Bound").map((claim) => keyOf(claim));
}

async function act(step: ClaimStep, claim: Claim, context: ReconcileContext): Promise<void> {
  if (step.kind === "bind") return bind(claim, step.volume, context);
  if (step.kind === "expand") return expand(claim, step.volume, context);
  if (step.kind === "wait") return tell(step.notice, context);
  if (step.kind === "lose") return lose(claim, step.notice, context);
}

function tell({ type, reason, message }: ClaimNotice, context: ReconcileContext): void {
  context.event(type, reason, message);
}

/** The volume first: no other claim takes it then, and a pass that ends between the writes is repeated. */
async function bind(claim: Claim, volume: Volume, context: ReconcileContext): Promise<void> {
  const { name, namespace, uid, resourceVersion } = claim.metadata;
  const reference = { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace, name, uid };
  if (volume.spec?.claimRef?.uid !== uid) {
    const chosen = volume.spec?.claimRef === undefined ? { metadata: { annotations: byController } } : {};
    const spec = { claimRef: { ...reference, resourceVersion } };
    await context.patch(volume, { ...chosen, spec }, { unchanged: true });
  }
  await writeVolumeStatus(volume, { phase: "Bound" }, context);
  if (claim.spec?.volumeName !== volume.metadata.name) {
    const annotations = { ...completed, ...byController };
    await context.patch(claim, { metadata: { annotations }, spec: { volumeName: volume.metadata.name } });
  } else if (claim.metadata.annotations?.["pv.kubernetes.io/bind-completed"] === undefined)
    await context.patch(claim, { metadata: { annotations: completed } });
  await writeClaimStatus(claim, boundStatus(volume), context);
}

async function expand(claim: Claim, volume: Volume, context: ReconcileContext): Promise<void> {
  const capacity = { ...volume.spec?.capacity, storage: claim.spec?.resources?.requests?.["storage"] };
  await context.patch(volume, { spec: { capacity } });
  await writeClaimStatus(claim, { capacity }, context);
  context.event("Normal", "VolumeResizeSuccessful", `Resize volume ${volume.metadata.name} succeeded`);
}

async function lose(claim: Claim, notice: ClaimNotice, context: ReconcileContext): Promise<void> {
  // A cache may have the claim and not yet its volume.
  if (
    (await context.fresh(PersistentVolume, claim.spec?.volumeName ?? "")) !== undefined &&
    notice.reason === "ClaimLost"
  )
    return;
  await writeClaimStatus(claim, { phase: "Lost" }, context);
  tell(notice, context);
}

async function writeClaimStatus(claim: Claim, status: object, { client, signal }: ReconcileContext): Promise<void> {
  if (hasStatus(claim.status, status)) return;
  const { name, namespace = "", uid } = claim.metadata;
  const options = { subresource: "status", signal } as const;
  await client.patch(PersistentVolumeClaim, { name, namespace }, { metadata: { uid }, status }, options);
}

async function writeVolumeStatus(volume: Volume, status: object, { client, signal }: ReconcileContext): Promise<void> {
  if (hasStatus(volume.status, status)) return;
  const { name, uid } = volume.metadata;
  await client.patch(PersistentVolume, { name }, { metadata: { uid }, status }, { subresource: "status", signal });
}
