import { dataServiceControllers, dataServicePermissions, dataServiceWrites } from "@setpoint/data-service";
import { defineOperator, type Operator } from "setpoint";
import { keyValueStores } from "./key-value-controller.ts";
import { keyValueEngine } from "./key-value-engine.ts";

/** The operator for KeyValueStore; `image` is its own, which transfer pods run. */
export function keyValueOperator(image: string | undefined): Operator {
  return defineOperator({
    name: "key-value",
    controllers: [keyValueStores, ...dataServiceControllers(keyValueEngine, { image })],
    writes: dataServiceWrites,
    permissions: dataServicePermissions(keyValueEngine),
  });
}
