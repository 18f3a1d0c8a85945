/** Installs the operator and the example as `kubectl apply --server-side -f` would. */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { parseAllDocuments } from "yaml";
import { isApiError, isSetpointError, type UnstructuredObject } from "@setpoint/apimachinery";
import type { Client } from "@setpoint/client";

const fieldManager = "setpoint";
/** A kind that was just installed may need a moment until it is served. */
const servedMsMax = 10_000;

/** Applies every document of a manifest file, in order. */
export async function applyFile(client: Client, path: string): Promise<readonly UnstructuredObject[]> {
  const objects = parseAllDocuments(readFileSync(path, "utf8")).map(
    (document) => document.toJS() as UnstructuredObject,
  );
  for (const object of objects) await applyObject(client, object);
  return objects;
}

async function applyObject(client: Client, object: UnstructuredObject): Promise<void> {
  const deadline = performance.now() + servedMsMax;
  for (;;) {
    try {
      const mapper = await client.discover();
      await client.apply(mapper.ofObject(object), object, { fieldManager, force: true });
      return;
    } catch (error) {
      const isUnserved = isSetpointError(error, "ERR_UNKNOWN_RESOURCE") || (isApiError(error) && error.code === 404);
      if (!isUnserved || performance.now() > deadline) throw error;
      await sleep(100);
    }
  }
}
