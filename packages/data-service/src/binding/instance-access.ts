/** What an engine reaches an instance with, and what keeps its errors free of passwords. */
import { Secret } from "setpoint/kinds";
import type { ReconcileContext } from "setpoint";
import type { InstanceAccess } from "../engine/control.ts";

/** Reads Secrets of one namespace, from the server where the cache does not have them. */
export function instanceAccess(
  { fresh, get, signal }: ReconcileContext,
  namespace: string | undefined,
): InstanceAccess {
  return {
    signal,
    object: (kind, name) => fresh(kind, name, namespace),
    async secret(name) {
      const secret = get(Secret, name, namespace) ?? (await fresh(Secret, name, namespace));
      return secret === undefined ? undefined : decodedData(secret);
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
