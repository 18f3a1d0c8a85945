/**
 * Stores in Google Cloud Storage, against a server of its protocol that is not ours: the suite that every
 * store passes, and the transfer program.
 */
import { readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStorage } from "@setpoint/data-service/agent";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { storageConformance } from "../../packages/data-service/src/storage/storage-conformance.fixture.ts";
import { impatient, mebibyte, object, Transfers, wholeData } from "../stores/transfers.ts";
import { type GcsServer, installGcsServer, startGcsServer } from "./gcs-server.ts";
import { startTokenService, type TokenService } from "./token-service.ts";

const subject = "canary-of-the-subject";
const installed = installGcsServer();
if ("missing" in installed) console.log(`Skipped: ${installed.missing}`);
const onGcs = test.skipIf("missing" in installed);

let server: GcsServer | undefined;
let tokens: TokenService;
let transfers: Transfers;

const place = () => ({ type: "gcs" as const, bucket: server?.bucket ?? "", endpoint: server?.endpoint });

beforeAll(async () => {
  if ("missing" in installed) return;
  [server, tokens] = await Promise.all([startGcsServer(installed.program), startTokenService(subject)]);
  transfers = new Transfers(place(), [subject, tokens.accessToken]);
});
afterAll(async () => {
  transfers?.[Symbol.dispose]();
  await tokens?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});
beforeEach(async () => {
  if (server === undefined) return;
  transfers.lines = [];
  useSubject(subject);
  await transfers.run({ task: "delete" });
});

function useSubject(text: string): void {
  const file = join(transfers.folder, "subject");
  writeFileSync(file, text);
  transfers.useCredentials({ "service-account.json": tokens.credentials(file) });
}

/** The objects that a transfer has stored. */
function objects(): readonly string[] {
  return readdirSync(server?.folder ?? "", { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => file.includes(object));
}

const part = (): string => join(server?.folder ?? "", "kept", object, "00000001");

storageConformance("GCS", () => {
  if (server === undefined) return undefined;
  return openStorage(place(), "pre/fix", join(transfers.folder, "store"), impatient);
});

onGcs("100 MiB are stored in parts, encrypted, verified, fetched and deleted", async () => {
  const before = tokens.given();
  const taken = await transfers.run({ task: "backup", mebibytes: 100, activeKey: "2026" });
  expect(taken).toMatchObject({ outcome: "done", backup: { dataBytes: 100 * mebibyte, encryptionKey: "2026" } });
  expect(objects()).toHaveLength(14);
  expect(tokens.given()).toBe(before + 1);
  expect(await transfers.run({ task: "verify", activeKey: "2026" })).toEqual(taken);
  expect(await transfers.run({ task: "fetch", activeKey: "2026" })).toEqual(taken);
  expect(transfers.fetched()).toBe(wholeData(100));
  expect(await transfers.run({ task: "delete" })).toEqual({ outcome: "done" });
  expect(objects()).toEqual([]);
});

onGcs("a stored part that is changed in the bucket is found", async () => {
  await transfers.run({ task: "backup", activeKey: "2026" });
  const bytes = readFileSync(part());
  bytes[2 * mebibyte] = (bytes[2 * mebibyte] ?? 0) ^ 1;
  writeFileSync(part(), bytes);
  for (const task of ["verify", "fetch"])
    expect(await transfers.run({ task, activeKey: "2026" })).toMatchObject({ reason: "BackupDamaged", retry: false });
});

onGcs("a stored part that is cut off in the bucket is found, with encryption and without", async () => {
  for (const key of [{ activeKey: "2026" }, {}]) {
    await transfers.run({ task: "backup", ...key });
    truncateSync(part(), mebibyte);
    for (const task of ["verify", "fetch"])
      expect(await transfers.run({ task, ...key })).toMatchObject({ reason: "BackupDamaged", retry: false });
    await transfers.run({ task: "delete" });
  }
});

onGcs(
  "a server that stops answering is StoreUnreachable; a later attempt succeeds and nothing else is left",
  async () => {
    const midway = (): void => server?.suspend();
    const result = await transfers.run({ task: "backup", mebibytes: 64, midway, patience: impatient });
    server?.resume();
    expect(result).toMatchObject({ outcome: "failed", reason: "StoreUnreachable", retry: true });
    expect(await transfers.run({ task: "verify" })).toMatchObject({ reason: "BackupMissing" });
    expect(await transfers.backupInAttempts()).toMatchObject({ outcome: "done" });
    expect(objects()).toHaveLength(2);
  },
);

onGcs("an upload that is stopped leaves no objects", async () => {
  const controller = new AbortController();
  const midway = (): void => controller.abort();
  const result = await transfers.run({
    task: "backup",
    mebibytes: 100,
    midway,
    options: { signal: controller.signal },
  });
  expect(result).toMatchObject({ outcome: "failed", reason: "Cancelled" });
  expect(objects()).toEqual([]);
});

onGcs("a refused login and a missing bucket are refusals without retry and without the credentials", async () => {
  const missing = { bucket: "missing-bucket" };
  const refused = { reason: "StoreRefused", retry: false };
  expect(await transfers.run({ task: "backup", place: missing })).toMatchObject({
    ...refused,
    message: expect.stringContaining("Create the bucket") as string,
  });
  expect(await transfers.run({ task: "verify", place: missing })).toMatchObject({ outcome: "failed", retry: false });
  useSubject("canary-of-another-subject");
  // opendal itself asks for a token again, for about 10 s.
  const patience = { ...impatient, retries: 0, callMsMax: 30_000 };
  const wrong = await transfers.run({ task: "backup", patience });
  expect(wrong).toMatchObject({ ...refused, message: expect.stringContaining("invalid_grant") as string });
  expect(JSON.stringify(wrong) + transfers.lines.join("")).not.toContain("canary-of-another-subject");
  expect(objects()).toEqual([]);
});
