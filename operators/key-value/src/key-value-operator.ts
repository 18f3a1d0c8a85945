import { defineDataService } from "@setpoint/data-service";
import type { Operator } from "setpoint";
import { keyValueAcceptance } from "./key-value-acceptance.ts";
import { keyValueStores } from "./key-value-controller.ts";
import { keyValueEngine, type KeyValueUsers } from "./key-value-engine.ts";

/**
 * The operator for KeyValueStore; `image` is its own, which transfer pods run. With `users`, it has bindings.
 */
export function keyValueOperator(image: string | undefined, users?: KeyValueUsers): Operator {
  return defineDataService({
    acceptance: keyValueAcceptance(keyValueEngine(users)),
    controllers: [keyValueStores],
    image,
  });
}
