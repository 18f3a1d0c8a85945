/** What an engine reaches an instance with, and what keeps its errors free of passwords. */
import { Secret } from "setpoint/kinds";
import type { ReconcileContext } from "setpoint";
import type { InstanceAccess } from "../engine/instance-access.ts";

/** Reads Pods and Secrets of one namespace from the server, for a controller that does not watch Secrets. */
export function instanceAccess({ fresh, signal }: ReconcileContext, namespace: string | undefined): InstanceAccess {
  return {
    signal,
    object: (kind, name) => fresh(kind, name, namespace),
    async secret(name) {
      const secret = await fresh(Secret, name, namespace);
      return secret === undefined ? undefined : decodedData(secret);
    },
  };
}

/** The same for a controller that watches Secrets: it asks the server for what it has not seen. */
export function cachedAccess(context: ReconcileContext, namespace: string | undefined): InstanceAccess {
  const access = instanceAccess(context, namespace);
  return {
    ...access,
    async secret(name) {
      const secret = context.get(Secret, name, namespace);
      return secret === undefined ? access.secret(name) : decodedData(secret);
    },
  };
}

/** The data of a Secret as bytes. */
export function decodedData({ data = {} }: Secret): Readonly<Record<string, Uint8Array>> {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64")]));
}

/**
 * Calls an engine. Its errors end up in conditions, events and logs, so one that repeats a secret is replaced
 * by one without.
 */
export async function withoutSecrets<T>(secrets: readonly string[], call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    const text = error instanceof Error ? `${error.message} ${String(error.cause ?? "")}` : String(error);
    if (!secrets.some((secret) => text.includes(secret))) throw error;
    const message = error instanceof Error ? error.message : text;
    // The original error, its stack and its cause contain the secret.
    throw new Error(secrets.reduce((clean, secret) => clean.replaceAll(secret, "…"), message));
  }
}
