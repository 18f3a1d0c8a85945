import type { KubeObject } from "@setpoint/apimachinery";
import { decodeJson } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";

const decoder = new TextDecoder();

/** The parsing border: a server's list or watch of a kind holds objects of the kind. */
export function decodeObject(bytes: Uint8Array): Stored<KubeObject> {
  return decodeJson(decoder.decode(bytes)) as Stored<KubeObject>;
}
