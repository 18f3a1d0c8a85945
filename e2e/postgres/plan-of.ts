/** What `setpoint plan` says of a changed file. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const command = fileURLToPath(new URL("../../packages/cli/bin/setpoint.mjs", import.meta.url));
const operator = fileURLToPath(new URL("../../operators/postgres/src/operator.ts", import.meta.url));

/** `folder` has the kubeconfig of the cluster. */
export async function planOf(object: object, folder: string): Promise<string> {
  using own = mkdtempDisposableSync(join(tmpdir(), "setpoint-plan-"));
  const file = join(own.path, "cluster.yaml");
  writeFileSync(file, JSON.stringify(object));
  const args = [command, "plan", operator, "-f", file, "--kubeconfig", join(folder, "kubeconfig")];
  // Not synchronous: the API server is in this process.
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  await once(child, "close");
  return text;
}
