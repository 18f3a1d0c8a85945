/**
 * Performs the steps of the plan. Each is idempotent and decides nothing: the next pass observes what is half
 * done and plans again.
 */
import { applyMemberBudget, applyMemberServices, type CertificateKeeper } from "@setpoint/data-service";
import { isAlreadyExists, type ReconcileContext, type Result, TemporaryError } from "setpoint";
import { PersistentVolumeClaim, Pod, PodDisruptionBudget, Service } from "setpoint/kinds";
import type { InstanceGateway } from "../instance/instance-gateway.ts";
import { certificatesOf } from "../kind/certificates.ts";
import { instanceClaim, instancePod, managerAddress } from "../kind/instance-pod.ts";
import { labels } from "../kind/labels.ts";
import { serverName } from "../kind/names.ts";
import { newLogin } from "../kind/login-secret.ts";
import { memberSet, minAvailable, serviceRoles } from "../kind/services.ts";
import { type Actions, lookAgainMs } from "../plan/postgres-step.ts";
import { nextImageOf } from "../plan/upgrade/wanted-upgrade.ts";
import { wantedDocument, wantedLabels } from "../plan/wanted.ts";
import { instanceNamed, type Seen } from "../seen/seen.ts";
import type { UpgradeStatus } from "../seen/upgrade.ts";

export interface ActionPorts {
  readonly gateway: InstanceGateway;
  readonly keeper: CertificateKeeper;
  /** The operator's own image, which has the instance manager. */
  readonly image: string;
}

const pauseLookMs = 100;

type ActionFunctions = {
  readonly [Name in keyof Actions]: (
    args: Actions[Name],
    context: ReconcileContext,
    seen: Seen,
  ) => Promise<Result | void>;
};

export function postgresActions(ports: ActionPorts): ActionFunctions {
  return {
    maintainCertificates: async (_, context, { cluster, poolers }) => {
      const names = poolers.map(({ name }) => name);
      await ports.keeper.maintain(certificatesOf(cluster, names), context);
    },

    // The status, written before, says it.
    pausePoolers: async (_, context) => context.requeueAfter(pauseLookMs, "see whether all clients wait"),

    createLogin: async (_, { client, host, signal }, { cluster }) => {
      await client.create(...newLogin(cluster, host.random), { signal }).catch((error: unknown) => {
        if (!isAlreadyExists(error)) throw error;
      });
    },

    applyServices: async ({ services }, context, { cluster }) =>
      void (await applyMemberServices(context, memberSet(cluster), { roles: serviceRoles, names: services })),

    applyBudget: (_, context, { cluster }) => applyMemberBudget(context, memberSet(cluster), minAvailable(cluster)),

    startInstances: ({ instances }, context, seen) => startInstances(instances, context, seen, ports.image),

    // The status, written before, is the appointment; the instances learn of it with the next instruction.
    appoint: async (_, context) => context.requeueAfter(0, "instruct the instances"),

    async depose(_, context, { cluster }) {
      if (cluster.metadata.annotations?.[labels.switchover] !== undefined)
        await context.patch(cluster, { metadata: { annotations: { [labels.switchover]: null } } });
      return context.requeueAfter(0, "instruct the instances");
    },

    instruct: ({ instances }, context, seen) => instruct(instances, context, seen, ports),

    async relabel({ instances }, context, seen) {
      for (const name of instances) {
        const instance = instanceNamed(seen, name);
        if (instance?.pod === undefined) continue;
        await context.patch(instance.pod, { metadata: { labels: wantedLabels(seen, instance) } });
      }
    },

    async forgetRequest({ why }, context, { cluster }) {
      context.event("Warning", "SwitchoverRefused", why);
      await context.patch(cluster, { metadata: { annotations: { [labels.switchover]: null } } });
    },

    async restartInstance({ instance }, context, seen) {
      const { pod } = instanceNamed(seen, instance) ?? {};
      if (pod !== undefined) await context.delete(pod);
    },

    async restartServer({ instance, startedAt }, context, seen) {
      const address = managerAddress(instanceNamed(seen, instance)?.pod);
      if (address === undefined) return;
      context.controller.changesOutside(`restart the server of ${instance}`);
      await (await securedGateway(seen, context, ports)).restart(address, startedAt, context.signal);
      return context.requeueAfter(lookAgainMs, "see whether its server has restarted");
    },

    async stopInstances({ instances }, context, seen) {
      for (const name of instances) {
        const { pod } = instanceNamed(seen, name) ?? {};
        if (pod !== undefined) await context.delete(pod);
      }
    },

    // The status, written before, names the data.
    startRestored: async (_, context) => context.requeueAfter(0, "start the first instance"),
    goBack: async (_, context) => context.requeueAfter(0, "start the instances"),

    async advanceUpgrade({ upgrade }, context) {
      const { phase, problems } = upgrade ?? {};
      const type = problems === undefined ? "Normal" : "Warning";
      if (upgrade !== undefined && phase !== undefined) context.event(type, `Upgrade${phase}`, eventText(upgrade));
      return context.requeueAfter(0, "go on with the upgrade");
    },
    // The status, written before, names the data.
    startOnVersion: async (_, context) => context.requeueAfter(0, "start the instances on the other version"),

    hibernated: async (_, context) => context.requeueAfter(0, "see that nothing is left to stop"),
    awake: async (_, context) => context.requeueAfter(0, "start the other instances"),

    async deleteClaims({ claims }, context, { otherClaims }) {
      for (const claim of otherClaims) if (claims.includes(claim.metadata.name ?? "")) await context.delete(claim);
    },

    async growVolume({ instance, size }, context, seen) {
      const { claim } = instanceNamed(seen, instance) ?? {};
      if (claim !== undefined) await context.patch(claim, { spec: { resources: { requests: { storage: size } } } });
    },

    async removeInstance({ instance }, context, seen) {
      const { pod, claim } = instanceNamed(seen, instance) ?? {};
      if (pod !== undefined) await context.delete(pod);
      if (claim !== undefined) await context.delete(claim);
    },
  };
}

function eventText({ from, to, instance, problems = [] }: UpgradeStatus): string {
  return [`PostgreSQL ${from} to ${to}, by the data of ${instance}`, ...problems].join("; ");
}

async function startInstances(
  names: readonly string[],
  context: ReconcileContext,
  seen: Seen,
  image: string,
): Promise<void> {
  for (const name of names) {
    const { claim } = instanceNamed(seen, name) ?? {};
    if (claim === undefined) await context.create(instanceClaim(seen.cluster, name, seen.cluster.status?.restored));
    const nextImage = nextImageOf(seen, name);
    await context.create(instancePod(seen.cluster, name, { managerImage: image, archive: seen.archive, nextImage }));
  }
}

/** All at once: each must learn of it even when another one hangs. */
async function instruct(
  names: readonly string[],
  context: ReconcileContext,
  seen: Seen,
  ports: ActionPorts,
): Promise<Result> {
  context.controller.changesOutside(`instruct the instances of PostgresCluster "${seen.cluster.metadata.name ?? ""}"`);
  const secured = await securedGateway(seen, context, ports);
  const desired = wantedDocument(seen);
  const sent = names.map(async (name) => {
    const address = managerAddress(instanceNamed(seen, name)?.pod);
    if (address !== undefined) await secured.instruct(address, desired, context.signal);
  });
  const failed = (await Promise.allSettled(sent)).find((each) => each.status === "rejected");
  context.signal.throwIfAborted();
  return context.requeueAfter(0, failed === undefined ? "see what the instances make of it" : String(failed.reason));
}

async function securedGateway(
  { cluster }: Seen,
  context: ReconcileContext,
  { gateway, keeper }: ActionPorts,
): Promise<InstanceGateway> {
  const { place } = certificatesOf(cluster);
  const leaf = await keeper.leafOf("operator", place, context);
  if (leaf === undefined) {
    // Its Secret was deleted after the last reading, and the next observation would not look at it.
    keeper.forget(place);
    throw new TemporaryError("The operator has no certificate yet", 1_000);
  }
  const { certificate, key } = leaf.pair;
  return gateway.withCertificates({ ca: leaf.bundle, certificate, key, serverName: serverName(cluster) });
}

/** What the operator creates, changes and deletes. */
export const ownedKinds = [Pod, Service, PersistentVolumeClaim, PodDisruptionBudget] as const;
