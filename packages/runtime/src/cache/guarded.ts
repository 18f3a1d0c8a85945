import type { KubeObject } from "@setpoint/apimachinery";
import type { Logger } from "@setpoint/host";

/**
 * A function of an author that is called where nothing may throw, because others wait for the same change. What it throws is
 * logged the first time, under the name that the author knows; `instead` answers for it.
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

const message = "A function of the author threw, which is said once";

function nameOf({ metadata: { namespace, name } }: KubeObject): string | undefined {
  return namespace === undefined ? name : `${namespace}/${name ?? ""}`;
}
