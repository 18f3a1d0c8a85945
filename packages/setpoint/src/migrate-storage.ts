/** Rewrites objects that are stored in an old version of their kind, so that the version can be removed. */
import { CustomResourceDefinition } from "@setpoint/api";
import { isApiError, isConflict, isExpired, isNotFound, type KubeObject, SetpointError } from "@setpoint/apimachinery";
import type { Client, KindRef } from "@setpoint/client";

/** The page size of a storage migration, and a signal to stop it. */
export interface MigrationOptions {
  /** Objects read at once; default 500. */
  readonly pageSize?: number;
  readonly signal?: AbortSignal;
}

/** What a storage migration did. */
export interface MigrationReport {
  /** The version in which everything is stored now. */
  readonly version: string;
  /** Versions in which objects may have been stored before. */
  readonly before: readonly string[];
  /** Objects that were looked at. */
  readonly rewritten: number;
}

const pageSizeDefault = 500;

/**
 * Writes every object of a kind as it is; the server stores it in the version of today. Afterwards the CRD's
 * `status.storedVersions` names this version alone, and old ones can be taken out of the CRD.
 *
 * Guarantees: no object is changed, and a concurrent write of another client is kept. It is safe to run
 * again. Errors: `ERR_MIGRATION` when the CRD's storage version was changed meanwhile; ApiErrors of the
 * server.
 */
export async function migrateStorage(
  client: Client,
  crdName: string,
  options: MigrationOptions = {},
): Promise<MigrationReport> {
  const crd = await client.get(CustomResourceDefinition, { name: crdName });
  const before = crd.status?.storedVersions ?? [];
  const version = storageVersionOf(crd);
  const { group, names, scope } = crd.spec;
  const { kind, plural } = names;
  const ref: KindRef = { group, version, kind, plural, namespaced: scope === "Namespaced" };
  const rewritten = await rewriteAll(client, ref, options);
  await forgetVersions(client, crdName, version);
  return { version, before, rewritten };
}

function storageVersionOf({ spec, metadata }: CustomResourceDefinition): string {
  const found = spec.versions.find(({ storage }) => storage);
  if (found !== undefined) return found.name;
  throw new SetpointError(
    "ERR_MIGRATION",
    `Cannot migrate "${metadata.name ?? ""}": no version is stored, expected one`,
  );
}

async function rewriteAll(client: Client, kind: KindRef, options: MigrationOptions): Promise<number> {
  const { pageSize: limit = pageSizeDefault, signal } = options;
  const stop = signal === undefined ? {} : { signal };
  let rewritten = 0;
  let next: string | undefined = "";
  while (next !== undefined) {
    const from: { readonly continue?: string } = next === "" ? {} : { continue: next };
    try {
      const page = await client.list(kind, { limit, ...from, ...stop });
      for (const object of page.items) await rewrite(client, kind, object);
      rewritten += page.items.length;
      next = page.metadata.continue === "" ? undefined : page.metadata.continue;
    } catch (error) {
      next = nextAfter(error);
    }
  }
  return rewritten;
}

/**
 * A list of many objects takes longer than the server keeps its revision (five minutes). It goes on behind
 * the last name, at a newer one: what came meanwhile is stored in the version of today.
 */
function nextAfter(error: unknown): string {
  const token = isApiError(error) && isExpired(error) ? error.status.metadata?.continue : undefined;
  if (token === undefined || token === "") throw error;
  return token;
}

/** An object that another client has written or deleted meanwhile needs no rewrite. */
async function rewrite(client: Client, kind: KindRef, object: KubeObject): Promise<void> {
  try {
    await client.update(kind, object);
  } catch (error) {
    if (!isConflict(error) && !isNotFound(error)) throw error;
  }
}

async function forgetVersions(client: Client, name: string, version: string): Promise<void> {
  const crd = await client.get(CustomResourceDefinition, { name });
  const now = storageVersionOf(crd);
  if (now !== version) {
    const message = `Cannot migrate "${name}": objects are stored as ${now} now, expected ${version} until the end; run it again`;
    throw new SetpointError("ERR_MIGRATION", message);
  }
  const status = { ...crd.status, storedVersions: [version] };
  await client.updateStatus(CustomResourceDefinition, { ...crd, status });
}
