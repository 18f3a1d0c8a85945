import {
  acceptanceRules,
  acceptanceRuns,
  dataServiceControllers,
  dataServicePermissions,
  dataServiceWrites,
} from "@setpoint/data-service";
import { defineOperator, type Operator } from "setpoint";
import { keyValueAcceptance } from "./key-value-acceptance.ts";
import { keyValueStores } from "./key-value-controller.ts";
import { keyValueEngine, type KeyValueUsers } from "./key-value-engine.ts";

/**
 * The operator for KeyValueStore; `image` is its own, which transfer pods run. With `users`, it has bindings.
 */
export function keyValueOperator(image: string | undefined, users?: KeyValueUsers): Operator {
  const engine = keyValueEngine(users);
  const acceptance = keyValueAcceptance(engine);
  return defineOperator({
    name: "key-value",
    controllers: [keyValueStores, ...dataServiceControllers(engine, { image }), acceptanceRuns(acceptance, { image })],
    writes: dataServiceWrites,
    permissions: [...dataServicePermissions(engine), ...acceptanceRules],
  });
}
