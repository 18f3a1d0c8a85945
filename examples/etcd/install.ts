/** Installs the operator and the example as `kubectl apply --server-side -f` would. */
import { readFileSync } from "node:fs";
import { kubernetesYaml } from "setpoint/install";
import { parseAllDocuments } from "yaml";
import type { UnstructuredObject } from "@setpoint/apimachinery";
import { applyObjects } from "@setpoint/cli";
import type { Client } from "@setpoint/client";
import { systemClock } from "@setpoint/host/system";

/** Applies every document of a manifest file, in order. */
export async function applyFile(client: Client, path: string): Promise<readonly UnstructuredObject[]> {
  const objects = parseAllDocuments(readFileSync(path, "utf8"), kubernetesYaml).map(
    (document) => document.toJS() as UnstructuredObject,
  );
  return Array.fromAsync(applyObjects(client, systemClock, objects));
}
