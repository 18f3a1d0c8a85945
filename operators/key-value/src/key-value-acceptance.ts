/** What the engine "key-value" brings to its acceptance tests. */
import type { EngineAcceptance, EngineControl } from "@setpoint/data-service";
import { PersistentVolumeClaim, Pod } from "setpoint/kinds";
import { KeyValueStore } from "./key-value-store.ts";
import { serverPort } from "./resources.ts";

export function keyValueAcceptance(engine: EngineControl<KeyValueStore>): EngineAcceptance<KeyValueStore> {
  return {
    engine,
    instance: (name, namespace) => KeyValueStore({ name, namespace, spec: {} }),
    changes: () => [],
    unsettled: ({ metadata, status }) =>
      status?.observedGeneration === metadata.generation ? undefined : "the operator has not seen the newest spec",
    victim: ({ metadata }) => `${metadata.name}-0`,
    // The address of a pod ends with it.
    clients: ({ metadata }) => ({ request: { url: `http://${metadata.name}-0:${serverPort}` } }),
    creates: [Pod, PersistentVolumeClaim],
  };
}
