/** Events about pods: equal ones are counted instead of written anew, as an event correlator does. */
import type { KubeObject } from "@setpoint/apimachinery";
import { type Host, timestamp } from "@setpoint/host";
import type { ClusterApi } from "./cluster-api.ts";
import { eventKind } from "./kinds.ts";

export interface EventRecorder {
  record(object: KubeObject, type: "Normal" | "Warning", reason: string, message: string, fieldPath?: string): void;
  /** Resolves when what was recorded so far is written or given up. */
  flushed(): Promise<void>;
}

/** Kinds of events whose counts are remembered. */
const rememberedMax = 1_000;
/** Events that wait to be written; more are dropped, for they never may hold up a pod. */
const pendingMax = 500;

interface EventObject extends KubeObject {
  readonly involvedObject: object;
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly source: object;
  readonly firstTimestamp: string;
  readonly lastTimestamp: string;
  readonly count: number;
}

export function createEventRecorder(host: Host, api: ClusterApi, component: string, nodeName: string): EventRecorder {
  const seen = new Map<string, { readonly namespace: string; readonly name: string; count: number }>();
  let pending = 0;
  let tail = Promise.resolve();
  const write = async (
    object: KubeObject,
    type: string,
    reason: string,
    message: string,
    fieldPath?: string,
  ): Promise<void> => {
    const { namespace = "default", name = "", uid = "", resourceVersion } = object.metadata;
    const key = `${uid} ${fieldPath ?? ""} ${type} ${reason} ${message}`;
    const now = timestamp(host.clock);
    const known = seen.get(key);
    if (known !== undefined) {
      known.count++;
      return void (await api.patch(eventKind, known, { count: known.count, lastTimestamp: now }));
    }
    const event: EventObject = {
      apiVersion: "v1",
      kind: "Event",
      metadata: {
        namespace,
        name: `${name}.${hex(host.random.bytes(8))}`,
      },
      involvedObject: {
        apiVersion: object.apiVersion,
        kind: object.kind,
        namespace,
        name,
        uid,
        resourceVersion,
        fieldPath,
      },
      type,
      reason,
      message,
      count: 1,
      firstTimestamp: now,
      lastTimestamp: now,
      source: {
        component,
        host: nodeName,
      },
    };
    await api.create(eventKind, event);
    if (seen.size >= rememberedMax) seen.clear();
    seen.set(key, { namespace, name: event.metadata.name ?? "", count: 1 });
  };
  return {
    record(...args) {
      if (pending >= pendingMax) return;
      pending++;
      const onError = (error: unknown): void =>
        host.log.debug("Event could not be written", { reason: args[2], error });
      tail = tail
        .then(() => write(...args))
        .catch(onError)
        .finally(() => pending--);
    },
    flushed: () => tail,
  };
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
