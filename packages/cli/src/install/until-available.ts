/** Waits for the pods of a Deployment, and finds out why they do not start. */
import { SetpointError } from "@setpoint/apimachinery";
import type { Client } from "@setpoint/client";
import { type Clock, sleep } from "@setpoint/host";
import { Deployment, Pod } from "setpoint/kinds";

export interface WaitOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly namespace: string;
  readonly name: string;
  readonly timeoutMs: number;
  /** Receives what is being waited for, whenever it changes. */
  readonly say: (line: string) => void;
}

/** A node cannot get the image of the Deployment. */
export const errImageMissing = "ERR_IMAGE_MISSING";

const lookMs = 200;
const imageReasons = new Set(["ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName"]);

/**
 * Resolves when all replicas of the newest version are available. Errors: `ERR_IMAGE_MISSING`, at once;
 * `ERR_NOT_AVAILABLE` after the time, with what the pods wait for.
 */
export async function untilAvailable(options: WaitOptions): Promise<void> {
  const { client, clock, namespace, name, timeoutMs, say } = options;
  const deadlineMs = clock.monotonic() + timeoutMs;
  let said = "";
  for (;;) {
    const deployment = await client.get(Deployment, { namespace, name });
    if (isRolledOut(deployment)) return;
    const waiting = await newestWaiting(client, namespace, deployment);
    const line = waiting === undefined ? `Deployment ${namespace}/${name}: no pod yet` : describe(waiting);
    if (line !== said) say(line);
    said = line;
    if (waiting !== undefined && imageReasons.has(waiting.reason))
      throw new SetpointError(errImageMissing, `Cannot start Deployment ${namespace}/${name}: ${line}`);
    if (clock.monotonic() > deadlineMs) {
      const why = `not available after ${timeoutMs / 1_000} s: ${line}`;
      throw new SetpointError("ERR_NOT_AVAILABLE", `Cannot start Deployment ${namespace}/${name}: ${why}`);
    }
    await sleep(clock, lookMs);
  }
}

function isRolledOut({ metadata, spec, status }: Deployment): boolean {
  const wanted = spec?.replicas ?? 1;
  const { observedGeneration = 0, updatedReplicas = 0, availableReplicas = 0, replicas = 0 } = status ?? {};
  const isSeen = observedGeneration >= (metadata.generation ?? 0);
  return isSeen && updatedReplicas >= wanted && availableReplicas >= wanted && replicas === updatedReplicas;
}

interface Waiting {
  readonly pod: string;
  readonly reason: string;
  readonly message: string;
}

/**
 * Of the newest pod that has the images asked for. Others are those of the version before, which may be the
 * one whose image was wrong.
 */
async function newestWaiting(client: Client, namespace: string, { spec }: Deployment): Promise<Waiting | undefined> {
  const labels = Object.entries(spec?.selector.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`);
  const { items } = await client.listAll(Pod, { namespace, labelSelector: labels.join(",") });
  const madeAt = (pod: Pod): string => pod.metadata.creationTimestamp ?? "";
  const wanted = imagesOf(spec?.template.spec);
  const current = items.filter((pod) => imagesOf(pod.spec) === wanted);
  const newest = current.toSorted((a, b) => (madeAt(a) < madeAt(b) ? 1 : -1))[0];
  if (newest === undefined) return undefined;
  return { pod: `${namespace}/${newest.metadata.name}`, ...reasonOf(newest) };
}

function imagesOf(spec: Pod["spec"] | undefined): string {
  return (spec?.containers ?? []).map(({ image }) => image).join(" ");
}

function reasonOf({ status = {} }: Pod): { readonly reason: string; readonly message: string } {
  const states = (status.containerStatuses ?? []).map(({ state }) => state?.waiting ?? state?.terminated);
  const { reason, message = "" } = states.find((each) => each !== undefined) ?? {};
  if (reason !== undefined) return { reason, message };
  const unmet = (status.conditions ?? []).find((each) => each.status !== "True" && each.message !== undefined);
  return { reason: status.phase ?? "Pending", message: unmet?.message ?? "" };
}

function describe({ pod, reason, message }: Waiting): string {
  return `Pod ${pod}: ${reason}${message === "" ? "" : `: ${message}`}`;
}
