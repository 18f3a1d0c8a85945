/** Installs the operator and the example as `kubectl apply --server-side -f` would. */
import { readFileSync } from "node:fs";
import { sleep } from "@setpoint/host";
import { parseAllDocuments } from "yaml";
import { isApiError, isSetpointError, type UnstructuredObject } from "@setpoint/apimachinery";
import type { Client } from "@setpoint/client";
import { systemClock } from "@setpoint/host/system";

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
  const deadline = systemClock.monotonic() + servedMsMax;
  for (;;) {
    try {
      const mapper = await client.discover();
      await client.apply(mapper.ofObject(object), object, { fieldManager, force: true });
      return;
    } catch (error) {
      const isUnserved = isSetpointError(error, "ERR_UNKNOWN_RESOURCE") || (isApiError(error) && error.code === 404);
      if (!isUnserved || systemClock.monotonic() > deadline) throw error;
      await sleep(systemClock, 100);
    }
  }
}
