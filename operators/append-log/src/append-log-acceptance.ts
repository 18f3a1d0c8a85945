/** What the engine "append-log" brings to its acceptance tests. */
import type { EngineAcceptance, EngineControl } from "@setpoint/data-service";
import { PersistentVolumeClaim, Pod } from "setpoint/kinds";
import { AppendLog } from "./append-log.ts";

export function appendLogAcceptance(engine: EngineControl<AppendLog>): EngineAcceptance<AppendLog> {
  return {
    engine,
    instance: (name, namespace) => AppendLog({ name, namespace, spec: { members: 2 } }),
    changes: () => [],
    unsettled: ({ metadata, status }) =>
      status?.observedGeneration === metadata.generation ? undefined : "the operator has not seen the newest spec",
    victim: ({ status }) => status?.primary,
    creates: [Pod, PersistentVolumeClaim],
  };
}
