/**
 * A run on a desk beside a copy of the same operator in the cluster: both change the same objects. The desk
 * finds the copy by its Lease, says so, writes an Event on its Deployment, and leaves a note on the Lease,
 * which the copy reads.
 */
import { Deployment, Lease } from "@setpoint/api";
import { isForbidden, isNotFound, type KubeObject, messageOf } from "@setpoint/apimachinery";
import type { Client, Stored } from "@setpoint/client";
import { type Host, sleep } from "@setpoint/host";
import { deskAnnotation, EventRecorder } from "@setpoint/runtime";

export interface CopiesInClusterOptions {
  /** Of the operator: its replicas have a Lease of this name. */
  readonly name: string;
  readonly client: Client;
  readonly host: Host;
  /** Of this run, for people to read. */
  readonly identity: string;
  /** Default: a Lease that a replica renews has changed after 5 s; looks again every minute. */
  readonly times?: { readonly renewedMs: number; readonly lookMs: number };
}

const timesDefault = { renewedMs: 5_000, lookMs: 60_000 };

/** Looks until it is disposed of. An account that may not look finds nothing. */
export function reportCopiesInCluster(options: CopiesInClusterOptions): AsyncDisposable {
  const { host, times = timesDefault } = options;
  const stop = new AbortController();
  const events = new EventRecorder(options.client, host, options.identity);
  const reported = new Set<string>();
  const look = async (): Promise<void> => {
    for (const lease of await renewedLeases(options, stop.signal)) {
      const { uid } = lease.metadata;
      if (!reported.has(uid)) await report(lease, options, events);
      reported.add(uid);
      await annotate(lease, options.identity, options.client);
    }
  };
  const run = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      await look().catch((error: unknown) => {
        host.log.debug("Could not look for a copy of the operator in the cluster", { why: messageOf(error) });
      });
      await sleep(host.clock, times.lookMs, stop.signal).catch(() => {});
    }
  };
  const running = run();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort(new Error("the process stops"));
      await running;
      await events.flushed();
    },
  };
}

/** Those that changed between two looks: whatever their times say, a process of now has renewed them. */
async function renewedLeases(
  { name, client, host, times = timesDefault }: CopiesInClusterOptions,
  signal: AbortSignal,
): Promise<readonly Stored<Lease>[]> {
  const list = async (): Promise<readonly Stored<Lease>[]> =>
    (await client.listAll(Lease, { fieldSelector: `metadata.name=${name}` })).items;
  const before = new Map((await list()).map(({ metadata }) => [metadata.uid, metadata.resourceVersion]));
  if (before.size === 0) return [];
  await sleep(host.clock, times.renewedMs, signal);
  return (await list()).filter(({ metadata: { uid, resourceVersion }, spec }) => {
    const isHeld = (spec?.holderIdentity ?? "") !== "";
    return isHeld && before.has(uid) && before.get(uid) !== resourceVersion;
  });
}

async function report(
  lease: Stored<Lease>,
  { name, client, host, identity }: CopiesInClusterOptions,
  events: EventRecorder,
): Promise<void> {
  const { namespace = "" } = lease.metadata;
  const advice = `end one of them; kubectl scale deployment/${name}-operator -n ${namespace} --replicas=0 stops the copy in the cluster`;
  host.log.warn("The operator also runs in the cluster: both copies change the same objects", {
    namespace,
    holder: lease.spec?.holderIdentity ?? "",
    advice,
  });
  const deployment = await client.get(Deployment, { name: `${name}-operator`, namespace }).catch(unlessHidden);
  const subject: Stored<KubeObject> = deployment ?? lease;
  events.record(subject, name, {
    type: "Warning",
    reason: "RunsOnDeskToo",
    message: `The operator also runs on a desk, as ${identity}: both copies change the same objects; ${advice}`,
  });
}

async function annotate({ metadata }: Stored<Lease>, identity: string, client: Client): Promise<void> {
  const key = { name: metadata.name, namespace: metadata.namespace ?? "" };
  await client.patch(Lease, key, { metadata: { annotations: { [deskAnnotation]: identity } } }).catch(unlessHidden);
}

function unlessHidden(error: unknown): undefined {
  if (!isNotFound(error) && !isForbidden(error)) throw error;
}
