/** The half of the engine that the operator calls. */
import type { EngineControl } from "@setpoint/data-service";
import { KeyValueStore } from "./key-value-store.ts";
import { preparedClaim, serverImage, serverPort, serverUser } from "./resources.ts";

/** The engine "key-value". */
export const keyValueEngine: EngineControl<KeyValueStore> = {
  name: "key-value",
  kind: KeyValueStore,
  state({ spec, status }) {
    return {
      serving: status?.serving ?? false,
      waitingFor: status?.serving === true ? undefined : "its pod is not ready",
      engineVersion: spec.version,
      restored: status?.restored,
      stoppedFor: status?.stoppedFor,
    };
  },
  source: ({ status }) => ({ request: { url: `http://${status?.podIP ?? ""}:${serverPort}/snapshot` } }),
  dataFolder: (store, restoreId, { snapshotFile, claimFolder }) => ({
    image: serverImage(store),
    command: ["key-value-server", "restore", snapshotFile, claimFolder],
    user: serverUser,
    claim: preparedClaim(store, restoreId),
  }),
  // The spec was checked by the server when the Restore was created, or is refused by it now.
  newInstance: (name, namespace, spec) => KeyValueStore({ name, namespace, spec }),
};
