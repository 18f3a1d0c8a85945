/** The transfer program against a real S3 server, cross-checked with rclone. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { installS3Server, type S3Server, startS3Server } from "./stores/s3-server.ts";
import { impatient, mebibyte, object, Transfers, wholeData } from "./stores/transfers.ts";

const installed = installS3Server();
if ("missing" in installed) console.log(`Skipped: ${installed.missing}`);
const onS3 = test.skipIf("missing" in installed);
const onS3WithRclone = test.skipIf("missing" in installed || spawnSync("rclone", ["version"]).status !== 0);

let server: S3Server;
let transfers: Transfers;

beforeAll(async () => {
  if ("missing" in installed) return;
  server = await startS3Server(installed.program);
  const { bucket, endpoint, credentials } = server;
  transfers = new Transfers({ type: "s3", bucket, endpoint, region: "us-east-1" }, Object.values(credentials));
});
afterAll(async () => {
  transfers?.[Symbol.dispose]();
  await server?.[Symbol.asyncDispose]();
});
beforeEach(async () => {
  if (server === undefined) return;
  transfers.lines = [];
  useCredentials(server.credentials);
  await transfers.run({ task: "delete" });
});

function useCredentials({ id, secret }: { readonly id: string; readonly secret: string }): void {
  transfers.useCredentials({ "access-key-id": id, "secret-access-key": secret });
}

onS3("100 MiB are stored in parts, encrypted, verified, fetched and deleted", async () => {
  const taken = await transfers.run({ task: "backup", mebibytes: 100, activeKey: "2026" });
  expect(taken).toMatchObject({ outcome: "done", backup: { dataBytes: 100 * mebibyte, encryptionKey: "2026" } });
  expect(server.files()).toHaveLength(14);
  expect(server.uploads()).toEqual([]);
  expect(await transfers.run({ task: "verify", activeKey: "2026" })).toEqual(taken);
  expect(await transfers.run({ task: "fetch", activeKey: "2026" })).toEqual(taken);
  expect(transfers.fetched()).toBe(wholeData(100));
  expect(await transfers.run({ task: "delete" })).toEqual({ outcome: "done" });
  expect([server.files(), server.uploads()]).toEqual([[], []]);
});

onS3WithRclone("rclone reads the same bytes from the bucket", async () => {
  const taken = await transfers.run({ task: "backup", mebibytes: 20 });
  const { id, secret } = server.credentials;
  const remote = `:s3,provider=Other,endpoint="${server.endpoint}",force_path_style=true:${server.bucket}/kept/${object}`;
  const env = {
    PATH: process.env["PATH"],
    RCLONE_S3_ACCESS_KEY_ID: id,
    RCLONE_S3_SECRET_ACCESS_KEY: secret,
    RCLONE_CONFIG: join(transfers.folder, "none"),
  };
  const cat = spawnSync("rclone", ["cat", remote], { env, maxBuffer: 64 * mebibyte });
  expect(cat.status, cat.stderr.toString()).toBe(0);
  expect(cat.stdout.length).toBe(20 * mebibyte);
  expect(taken).toMatchObject({ backup: { sha256: wholeData(20) } });
  // rclone reads the parts side by side, so their order in its output is not that of the data.
  const ordered = ["00000001", "00000002", "00000003"].map(
    (part) => spawnSync("rclone", ["cat", `${remote}/${part}`], { env, maxBuffer: 64 * mebibyte }).stdout,
  );
  expect(createHash("sha256").update(Buffer.concat(ordered)).digest("hex")).toBe(wholeData(20));
  await transfers.run({ task: "delete" });
});

onS3("an upload that is stopped leaves no objects and no pieces of uploads", async () => {
  const controller = new AbortController();
  const midway = (): void => controller.abort();
  const result = await transfers.run({
    task: "backup",
    mebibytes: 100,
    midway,
    options: { signal: controller.signal },
  });
  expect(result).toMatchObject({ outcome: "failed", reason: "Cancelled" });
  expect([server.files(), server.uploads()]).toEqual([[], []]);
});

onS3(
  "a server that stops answering is StoreUnreachable; a later attempt succeeds and nothing else is left",
  { timeout: 120_000 },
  async () => {
    const result = await transfers.run({
      task: "backup",
      mebibytes: 64,
      midway: () => server.suspend(),
      patience: impatient,
    });
    server.resume();
    expect(result).toMatchObject({ outcome: "failed", reason: "StoreUnreachable", retry: true });
    expect(await transfers.run({ task: "verify" })).toMatchObject({ reason: "BackupMissing" });
    expect(await transfers.backupInAttempts()).toMatchObject({ outcome: "done" });
    expect(server.files()).toHaveLength(2);
    await transfers.run({ task: "delete" });
    expect([server.files(), server.uploads()]).toEqual([[], []]);
  },
);

onS3("wrong credentials and a missing bucket are refusals without retry and without the credentials", async () => {
  useCredentials({ ...server.credentials, secret: "canary-of-a-wrong-secret" });
  const wrong = await transfers.run({ task: "backup" });
  expect(wrong).toMatchObject({
    reason: "StoreRefused",
    retry: false,
    message: expect.stringContaining("HTTP 403") as string,
  });
  expect(JSON.stringify(wrong) + transfers.lines.join("")).not.toContain("canary-of-a-wrong-secret");
  useCredentials(server.credentials);
  expect(await transfers.run({ task: "backup", place: { bucket: "missing-bucket" } })).toMatchObject({
    reason: "StoreRefused",
    retry: false,
    message: expect.stringContaining("NoSuchBucket") as string,
  });
  expect(await transfers.run({ task: "verify", place: { bucket: "missing-bucket" } })).toMatchObject({
    outcome: "failed",
    retry: false,
  });
  expect(server.files()).toEqual([]);
});

onS3("a stored part that is changed in the bucket is found", async () => {
  await transfers.run({ task: "backup", activeKey: "2026" });
  const path = join(server.folder, "kept", object, "00000001");
  const bytes = readFileSync(path);
  bytes[2 * mebibyte] = (bytes[2 * mebibyte] ?? 0) ^ 1;
  writeFileSync(path, bytes);
  expect(await transfers.run({ task: "verify", activeKey: "2026" })).toMatchObject({
    reason: "BackupDamaged",
    retry: false,
  });
  await transfers.run({ task: "delete" });
});
