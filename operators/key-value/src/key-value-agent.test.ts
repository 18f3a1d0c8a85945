/** The agent half needs nothing of its own to be stored, encrypted, verified, fetched and deleted. */
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AgentResult, agentResult, requestVariable, runAgent } from "@setpoint/data-service/agent";
import { silentLogger } from "@setpoint/host";
import { afterAll, beforeAll, expect, test } from "vitest";
import { keyValueAgent } from "./key-value-agent.ts";

let text = JSON.stringify({ version: "1.0.0", revision: 3, keys: { a: "1", b: "2" } });
const server = createServer((_request, response) => void response.end(text));
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "setpoint-key-value-"));
  for (const name of ["keys", "store"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "keys/2026"), randomBytes(32));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
  server.closeAllConnections();
  server.close();
});

async function run(task: string): Promise<AgentResult> {
  const path = (name: string): string => join(folder, name);
  const store = { place: { type: "folder", folder: path("store") }, prefix: "", activeKey: "2026" };
  const source = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/snapshot` };
  const request = { task, engine: "key-value", store, object: "key-value/orders", source };
  await runAgent(
    { "key-value": keyValueAgent },
    {
      environment: { [requestVariable]: JSON.stringify(request) },
      paths: {
        storeSecret: path("none"),
        storeClaim: path("store"),
        encryptionSecret: path("keys"),
        sourceSecret: path("none"),
        snapshotFolder: path("snapshot"),
        replayFolder: path("replay"),
      },
      terminationLog: path("result"),
      log: silentLogger,
      signal: new AbortController().signal,
    },
  );
  return agentResult.parse(JSON.parse(readFileSync(path("result"), "utf8")));
}

test("its data are backed up, verified, fetched and deleted", async () => {
  const taken = await run("backup");
  expect(taken).toMatchObject({
    outcome: "done",
    backup: { engine: "key-value", engineVersion: "1.0.0", position: "3" },
  });
  expect(await run("verify")).toEqual(taken);
  expect(await run("fetch")).toEqual(taken);
  expect(readFileSync(join(folder, "snapshot/snapshot"), "utf8")).toBe(text);
  expect(await run("delete")).toEqual({ outcome: "done" });
  expect(await run("verify")).toMatchObject({ reason: "BackupMissing" });
});

test("an answer that is no snapshot is no backup", async () => {
  text = '{"version":"1.0.0","revision":3,"keys":{"a"';
  expect(await run("backup")).toMatchObject({ outcome: "failed", reason: "SnapshotInvalid", retry: true });
});
