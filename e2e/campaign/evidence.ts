/** Keeps the logs of pods, which go with the cluster, when something was found. */
import { cpSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** `data` is the folder of the cluster; `name` is of the finding. */
export function keepEvidence(data: string, folder: string, name: string): void {
  const pods = join(data, "nodes", "node-1", "pods");
  for (const pod of existsSync(pods) ? readdirSync(pods) : []) {
    const logs = join(pods, pod, "logs");
    if (existsSync(logs)) cpSync(logs, join(folder, "evidence", name, pod), { recursive: true, force: true });
  }
}
