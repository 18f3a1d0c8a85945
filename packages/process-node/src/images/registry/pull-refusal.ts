import type { SetpointError } from "@setpoint/apimachinery";
import { nodeError } from "../../errors.ts";

/** Why an image cannot be pulled; `RegistryImages` adds which one. Never with an answer's own text. */
export function pullRefusal(why: string): SetpointError {
  return nodeError("ERR_IMAGE_PULL", why);
}

/** The registry does not give the image to these credentials; others may have more luck. */
export function deniedRefusal(why: string): SetpointError {
  return nodeError("ERR_IMAGE_DENIED", why);
}
