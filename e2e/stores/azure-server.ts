/**
 * Microsoft's Azurite, a real server of Azure Blob Storage's protocol on loopback, if it is in the cache of
 * this project.
 */
import { spawn } from "node:child_process";
import { createHmac, randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { freePort, listening } from "./s3-server.ts";

const cache = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "setpoint", "tools", "azurite");
const program = join(cache, "node_modules/azurite/dist/src/blob/main.js");
const apiVersion = "2021-12-02";

/** It has 374 packages, so nothing installs it but a developer who wants this test. */
export function findAzureServer(): { readonly program: string } | { readonly missing: string } {
  return existsSync(program) ? { program } : { missing: `no Azurite; type: npm install --prefix ${cache} azurite` };
}

export interface AzureServer extends AsyncDisposable {
  readonly endpoint: string;
  readonly container: string;
  readonly account: string;
  readonly key: string;
}

export async function startAzureServer(path: string): Promise<AzureServer> {
  const root = mkdtempSync(join(tmpdir(), "setpoint-azure-"));
  const [account, container] = ["account1", "backups"];
  const key = randomBytes(64).toString("base64");
  const port = await freePort();
  const args = [
    "--blobHost",
    "127.0.0.1",
    "--blobPort",
    String(port),
    "--location",
    root,
    "--silent",
    "--skipApiVersionCheck",
  ];
  const env = { ...process.env, AZURITE_ACCOUNTS: `${account}:${key}` };
  const child = spawn(process.execPath, [path, ...args], { env, stdio: "ignore" });
  await listening(port, child);
  const endpoint = `http://127.0.0.1:${port}/${account}`;
  await createContainer(endpoint, account, container, key);
  return {
    endpoint,
    container,
    account,
    key,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await once(child, "close");
      rmSync(root, { recursive: true });
    },
  };
}

async function createContainer(endpoint: string, account: string, container: string, key: string): Promise<void> {
  const date = new Date().toUTCString();
  const canonical = `x-ms-date:${date}\nx-ms-version:${apiVersion}\n/${account}/${account}/${container}\nrestype:container`;
  const signature = createHmac("sha256", Buffer.from(key, "base64"))
    .update(`PUT${"\n".repeat(12)}${canonical}`)
    .digest("base64");
  const headers = { "x-ms-date": date, "x-ms-version": apiVersion, authorization: `SharedKey ${account}:${signature}` };
  const { status } = await fetch(`${endpoint}/${container}?restype=container`, { method: "PUT", headers });
  if (status !== 201) throw new Error(`Azurite did not create the container: HTTP ${status}`);
}
