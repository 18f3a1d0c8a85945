import { isNotFound, type KubeObject, type NamespacedName } from "@setpoint/apimachinery";
import type { Client, KindRef, Stored } from "@setpoint/client";

/** As `client.get`, but resolves to undefined when the object does not exist. */
export async function findObject<T extends KubeObject>(
  client: Client,
  kind: KindRef<T>,
  key: NamespacedName,
): Promise<Stored<T> | undefined> {
  try {
    return await client.get(kind, key);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
