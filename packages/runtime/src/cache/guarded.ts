import type { KubeObject } from "@setpoint/apimachinery";
import type { Logger } from "@setpoint/host";

/**
 * Wraps a user's function for places where nothing may throw, because other readers wait for the same change.
 * Its first error is logged under the name that the user gave it; after an error `instead` answers.
 */
export function guarded<Args extends readonly [KubeObject, ...KubeObject[]], Answer>(
  name: string,
  log: Logger | undefined,
  run: (this: void, ...args: Args) => Answer,
  instead: (this: void, ...args: Args) => Answer,
): (this: void, ...args: Args) => Answer {
  let hasThrown = false;
  return (...args) => {
    try {
      return run(...args);
    } catch (error) {
      if (!hasThrown) log?.error(message, { function: name, object: nameOf(args[0]), error });
      hasThrown = true;
      return instead(...args);
    }
  };
}

const message = "User function threw; further errors of it are not logged";

function nameOf({ metadata: { namespace, name } }: KubeObject): string | undefined {
  return namespace === undefined ? name : `${namespace}/${name ?? ""}`;
}
