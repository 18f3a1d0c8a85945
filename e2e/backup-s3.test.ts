/** The transfer program against a real S3 server, cross-checked with rclone. */
import { spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type AgentOptions,
  type AgentResult,
  agentResult,
  type EngineAgent,
  InvalidSnapshotError,
  openStorage,
  requestVariable,
  runAgent,
  type StoragePatience,
} from "@setpoint/data-service/agent";
import { systemLogger } from "@setpoint/host/system";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { installS3Server, type S3Server, startS3Server } from "./stores/s3-server.ts";

const installed = installS3Server();
if ("missing" in installed) console.log(`Skipped: ${installed.missing}`);
const onS3 = test.skipIf("missing" in installed);
const onS3WithRclone = test.skipIf("missing" in installed || spawnSync("rclone", ["version"]).status !== 0);

const mebibyte = 1 << 20;
/** For a server that is known not to answer; on a loaded machine one that does may need longer. */
const impatient = { retries: 1, retryDelayMsMin: 10, callMsMax: 2_000, transferMsMax: 4_000 };
const object = "endless/default/orders/first";
let server: S3Server;
let folder: string;
let lines: string[] = [];

beforeAll(async () => {
  if ("program" in installed) server = await startS3Server(installed.program);
  folder = mkdtempSync(join(tmpdir(), "setpoint-s3-agent-"));
  for (const name of ["store", "keys"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "keys/2026"), randomBytes(32));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await server?.[Symbol.asyncDispose]();
});
beforeEach(async () => {
  lines = [];
  if (server === undefined) return;
  useCredentials(server.credentials);
  await run({ task: "delete" });
});

function useCredentials({ id, secret }: { readonly id: string; readonly secret: string }): void {
  writeFileSync(join(folder, "store/access-key-id"), `${id}\n`);
  writeFileSync(join(folder, "store/secret-access-key"), `${secret}\n`);
}

/** Data of a given size; `midway` runs in their middle. */
function endless(mebibytes: number, midway: () => void = () => {}): EngineAgent {
  return {
    async snapshot() {
      async function* pieces(): AsyncGenerator<Uint8Array> {
        for (let index = 0; index < mebibytes; index++) {
          if (index === mebibytes >> 1) midway();
          yield Buffer.alloc(mebibyte, index % 251);
        }
      }
      return { data: pieces(), facts: Promise.resolve({ engineVersion: "1", position: "7" }) };
    },
    async verify(data) {
      let dataBytes = 0;
      for await (const piece of data) dataBytes += piece.length;
      if (dataBytes % mebibyte !== 0) throw new InvalidSnapshotError("it is cut off");
      return { dataBytes };
    },
  };
}

interface Order {
  readonly task: string;
  readonly mebibytes?: number;
  readonly midway?: () => void;
  readonly activeKey?: string;
  readonly bucket?: string;
  readonly patience?: StoragePatience;
  readonly options?: AgentOptions;
}

async function run({ task, mebibytes = 4, midway, activeKey, bucket, patience, options }: Order): Promise<AgentResult> {
  const place = { type: "s3", bucket: bucket ?? server.bucket, endpoint: server.endpoint, region: "us-east-1" };
  const store = { place, prefix: "kept", ...(activeKey === undefined ? {} : { activeKey }) };
  const path = (name: string): string => join(folder, name);
  await runAgent(
    { endless: endless(mebibytes, midway) },
    {
      environment: { [requestVariable]: JSON.stringify({ task, engine: "endless", store, object, source: {} }) },
      paths: {
        storeSecret: path("store"),
        storeClaim: path("claim"),
        encryptionSecret: path("keys"),
        sourceSecret: path("source"),
        snapshotFolder: path("snapshot"),
      },
      terminationLog: path("result"),
      log: systemLogger({ write: (line) => void lines.push(line), level: "debug" }),
      signal: new AbortController().signal,
      openStorage: (request, secrets) => openStorage(request.place, request.prefix, secrets, patience),
      ...options,
    },
  );
  const text = readFileSync(path("result"), "utf8");
  for (const secret of Object.values(server.credentials)) expect(text + lines.join("")).not.toContain(secret);
  return agentResult.parse(JSON.parse(text));
}

/**
 * Tries again as the controller does. A part that the server held back while it was stopped may arrive only
 * now; the attempt that meets it does not count it as a backup, deletes it and says that it may be repeated.
 */
async function backupInAttempts(): Promise<AgentResult> {
  for (let attempt = 1; ; attempt++) {
    const result = await run({ task: "backup", mebibytes: 4 });
    if (result.outcome === "done" || attempt === 3) return result;
    expect(result).toMatchObject({ retry: true });
  }
}

function wholeData(mebibytes: number): string {
  const hash = createHash("sha256");
  for (let index = 0; index < mebibytes; index++) hash.update(Buffer.alloc(mebibyte, index % 251));
  return hash.digest("hex");
}

onS3("100 MiB are stored in parts, encrypted, verified, fetched and deleted", async () => {
  const taken = await run({ task: "backup", mebibytes: 100, activeKey: "2026" });
  expect(taken).toMatchObject({ outcome: "done", backup: { dataBytes: 100 * mebibyte, encryptionKey: "2026" } });
  expect(server.files()).toHaveLength(14);
  expect(server.uploads()).toEqual([]);
  expect(await run({ task: "verify", activeKey: "2026" })).toEqual(taken);
  expect(await run({ task: "fetch", activeKey: "2026" })).toEqual(taken);
  const fetched = createHash("sha256")
    .update(readFileSync(join(folder, "snapshot/snapshot")))
    .digest("hex");
  expect(fetched).toBe(wholeData(100));
  expect(await run({ task: "delete" })).toEqual({ outcome: "done" });
  expect([server.files(), server.uploads()]).toEqual([[], []]);
});

onS3WithRclone("rclone reads the same bytes from the bucket", async () => {
  const taken = await run({ task: "backup", mebibytes: 20 });
  const { id, secret } = server.credentials;
  const remote = `:s3,provider=Other,endpoint="${server.endpoint}",force_path_style=true:${server.bucket}/kept/${object}`;
  const env = {
    PATH: process.env["PATH"],
    RCLONE_S3_ACCESS_KEY_ID: id,
    RCLONE_S3_SECRET_ACCESS_KEY: secret,
    RCLONE_CONFIG: join(folder, "none"),
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
  await run({ task: "delete" });
});

onS3("an upload that is stopped leaves no objects and no pieces of uploads", async () => {
  const controller = new AbortController();
  const midway = (): void => controller.abort();
  const result = await run({ task: "backup", mebibytes: 100, midway, options: { signal: controller.signal } });
  expect(result).toMatchObject({ outcome: "failed", reason: "Cancelled" });
  expect([server.files(), server.uploads()]).toEqual([[], []]);
});

onS3(
  "a server that stops answering is StoreUnreachable; a later attempt succeeds and nothing else is left",
  { timeout: 120_000 },
  async () => {
    const result = await run({ task: "backup", mebibytes: 64, midway: () => server.suspend(), patience: impatient });
    server.resume();
    expect(result).toMatchObject({ outcome: "failed", reason: "StoreUnreachable", retry: true });
    expect(await run({ task: "verify" })).toMatchObject({ reason: "BackupMissing" });
    expect(await backupInAttempts()).toMatchObject({ outcome: "done" });
    expect(server.files()).toHaveLength(2);
    await run({ task: "delete" });
    expect([server.files(), server.uploads()]).toEqual([[], []]);
  },
);

onS3("wrong credentials and a missing bucket are refusals without retry and without the credentials", async () => {
  useCredentials({ ...server.credentials, secret: "canary-of-a-wrong-secret" });
  const wrong = await run({ task: "backup" });
  expect(wrong).toMatchObject({
    reason: "StoreRefused",
    retry: false,
    message: expect.stringContaining("HTTP 403") as string,
  });
  expect(JSON.stringify(wrong) + lines.join("")).not.toContain("canary-of-a-wrong-secret");
  useCredentials(server.credentials);
  expect(await run({ task: "backup", bucket: "missing-bucket" })).toMatchObject({
    reason: "StoreRefused",
    retry: false,
    message: expect.stringContaining("NoSuchBucket") as string,
  });
  expect(await run({ task: "verify", bucket: "missing-bucket" })).toMatchObject({ outcome: "failed", retry: false });
  expect(server.files()).toEqual([]);
});

onS3("a stored part that is changed in the bucket is found", async () => {
  await run({ task: "backup", activeKey: "2026" });
  const path = join(server.folder, "kept", object, "00000001");
  const bytes = readFileSync(path);
  bytes[2 * mebibyte] = (bytes[2 * mebibyte] ?? 0) ^ 1;
  writeFileSync(path, bytes);
  expect(await run({ task: "verify", activeKey: "2026" })).toMatchObject({ reason: "BackupDamaged", retry: false });
  await run({ task: "delete" });
});
