import type { KubeObject } from "@setpoint/apimachinery";
import type { EventRecorder } from "@setpoint/runtime";
import { podIdentity } from "./pod.ts";

export interface NodeEvents {
  record(object: KubeObject, type: "Normal" | "Warning", reason: string, message: string, fieldPath?: string): void;
}

/** Events that this node reports, under the name of a kubelet's. */
export function createNodeEvents(recorder: EventRecorder): NodeEvents {
  return {
    record(object, type, reason, message, fieldPath) {
      const { name, uid } = podIdentity(object);
      const subject = { ...object, metadata: { ...object.metadata, name, uid } };
      recorder.record(subject, "kubelet", { type, reason, message, ...(fieldPath === undefined ? {} : { fieldPath }) });
    },
  };
}

/** A kubelet refers to its Node by name, and puts the name into the UID as well. */
export function nodeReference(name: string): KubeObject {
  return { apiVersion: "v1", kind: "Node", metadata: { name, uid: name } };
}
