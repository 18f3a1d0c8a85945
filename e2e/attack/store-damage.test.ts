/**
 * Damage to the files of a server that was killed: everything acknowledged is served by the next start, or it
 * refuses.
 */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Target } from "./target.ts";

const objects = 40;
const flags = ["--nodes", "0"] as const;
const bin = new URL("../../packages/cli/bin/setpoint.mjs", import.meta.url).pathname;
const collection = "/api/v1/namespaces/default/configmaps";

function newDirectory(parts: DisposableStack): string {
  const directory = mkdtempSync(join(tmpdir(), "setpoint-damage-"));
  parts.defer(() => rmSync(directory, { recursive: true }));
  return directory;
}

/** A server that acknowledges writes and is killed; resolves to its last revision. */
async function writeAndKill(directory: string): Promise<number> {
  await using target = await Target.start({ directory, flags });
  const headers = { "content-type": "application/json" };
  let revision = 0;
  for (let i = 0; i < objects; i++) {
    const body = JSON.stringify({ metadata: { name: `cm-${i}` }, data: { value: `payload-${i}-${"x".repeat(300)}` } });
    const answer = await target.raw({ method: "POST", path: collection, headers, body, as: "admin" });
    expect(answer.status).toBe(201);
    revision = Number(JSON.parse(answer.body).metadata.resourceVersion);
  }
  target.process.kill("SIGKILL");
  await once(target.process, "exit");
  return revision;
}

async function expectAllServed(directory: string, revision: number): Promise<void> {
  await using target = await Target.start({ directory, flags });
  const { items, metadata } = JSON.parse((await target.raw({ path: collection, as: "admin" })).body);
  const values = new Map<string, string>();
  for (const { metadata: own, data } of items) values.set(own.name, data?.value);
  for (let i = 0; i < objects; i++) expect(values.get(`cm-${i}`)).toBe(`payload-${i}-${"x".repeat(300)}`);
  expect(Number(metadata.resourceVersion)).toBeGreaterThanOrEqual(revision);
}

const wal = (directory: string): string => join(directory, "store", "state.db-wal");

test.each([
  ["deleted", (file: string) => rmSync(file)],
  ["cut in half", (file: string) => truncateSync(file, statSync(file).size >> 1)],
  [
    "flipped in 64 bytes",
    (file: string) => {
      const bytes = readFileSync(file);
      for (let i = 0; i < 64; i++) bytes[(bytes.length >> 1) + i] = (bytes[(bytes.length >> 1) + i] ?? 0) ^ 0xff;
      writeFileSync(file, bytes);
    },
  ],
])("a server whose WAL was %s after a kill has everything that it acknowledged", async (_what, strike) => {
  using parts = new DisposableStack();
  const directory = newDirectory(parts);
  const revision = await writeAndKill(directory);
  strike(wal(directory));
  await expectAllServed(directory, revision);
});

test("a server whose values were changed on disk refuses to serve them, names them, and is repaired", async () => {
  using parts = new DisposableStack();
  const directory = newDirectory(parts);
  const revision = await writeAndKill(directory);
  // Once more, so that the values are in the database's own file.
  await expectAllServed(directory, revision);
  const file = join(directory, "store", "state.db");
  const bytes = readFileSync(file);
  for (let at = bytes.indexOf("payload-7-"); at !== -1; at = bytes.indexOf("payload-7-", at + 1))
    bytes.write("Payload", at);
  writeFileSync(file, bytes);
  await expect(Target.start({ directory, flags })).rejects.toThrow(
    /\/configmaps\/default\/cm-7: the value at revision \d+ does not match its checksum/,
  );
  const repair = spawnSync(process.execPath, [
    "--conditions=@setpoint/source",
    bin,
    "store",
    "repair",
    "--data-dir",
    directory,
  ]);
  expect(String(repair.stdout)).toContain("Repaired without a loss");
  await expectAllServed(directory, revision);
});
