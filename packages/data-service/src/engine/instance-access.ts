import type { KubeObject } from "@setpoint/apimachinery";
import type { KindRef, Stored } from "setpoint";

/** What an engine gets to reach an instance with. */
export interface InstanceAccess {
  /** The data of a Secret in the instance's namespace, decoded; undefined when there is none. */
  secret(name: string): Promise<Readonly<Record<string, Uint8Array>> | undefined>;
  /** An object in the instance's namespace, from the server; undefined when there is none. */
  object<T extends KubeObject>(kind: KindRef<T>, name: string): Promise<Stored<T> | undefined>;
  readonly signal: AbortSignal;
}
