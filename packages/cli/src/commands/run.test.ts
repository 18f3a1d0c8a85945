import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

const bin = new URL("../../bin/setpoint.mjs", import.meta.url).pathname;
const candy = new URL("../../../../examples/candy/candy.ts", import.meta.url).pathname;

test("setpoint run says what it waits for when the server does not answer", async () => {
  const server = createServer(() => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const folder = mkdtempSync(join(tmpdir(), "setpoint-run-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const kubeconfig = join(folder, "kubeconfig");
  const cluster = { name: "c", cluster: { server: `http://127.0.0.1:${(server.address() as AddressInfo).port}` } };
  const contexts = [{ name: "c", context: { cluster: "c", user: "u" } }];
  const users = [{ name: "u", user: { token: "t" } }];
  writeFileSync(kubeconfig, JSON.stringify({ clusters: [cluster], contexts, users, "current-context": "c" }));
  const child = spawn(process.execPath, [bin, "run", candy, "--kubeconfig", kubeconfig, "--port", "0"]);
  onTestFinished(() => void child.kill("SIGKILL"));
  let log = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (log += String(text)));
  await expect
    .poll(() => log, { timeout: 15_000 })
    .toMatch(/"message":"Starting","step":"asking the server for the rights of this account","seconds":\d/);
});
