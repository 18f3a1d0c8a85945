import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { isTransferError } from "../engine/transfer-error.ts";
import { MemoryStorage } from "./memory-storage.ts";
import { translateOpendalError } from "./opendal-error.ts";
import { openStorage } from "./opendal-storage.ts";
import { storageConformance } from "./storage-conformance.fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "setpoint-storage-"));
afterAll(() => rmSync(folder, { recursive: true }));
const memory = new MemoryStorage();

storageConformance("memory", () => memory);
storageConformance("folder", () => openStorage({ type: "folder", folder }, "pre/fix", folder));

function reasonOf(run: () => unknown): string {
  try {
    run();
    return "done";
  } catch (error) {
    return isTransferError(error) ? `${error.reason}: ${error.message}` : String(error);
  }
}

test("a store without credentials names the key that the Secret lacks", () => {
  const place = { type: "s3" as const, bucket: "b", region: "x" };
  expect(reasonOf(() => openStorage(place, "", folder))).toMatch(/^StoreRefused: .*"access-key-id".*Add it/);
});

test("a store that is not a folder is a refusal", async () => {
  writeFileSync(join(folder, "file"), "");
  const storage = openStorage({ type: "folder", folder: join(folder, "file") }, "", folder);
  const written = storage.write("x/1", Buffer.from("x"), new AbortController().signal);
  await expect(written).rejects.toMatchObject({ reason: "StoreRefused" });
});

test.each([[".."], ["a/../.."], ["./a"]])("the prefix %j is a refusal", (prefix) => {
  expect(reasonOf(() => openStorage({ type: "folder", folder }, prefix, folder))).toMatch(/^StoreRefused: .*prefix/);
});

test("opening a folder writes nothing into it, so that it may be mounted for reading", async () => {
  const empty = mkdtempSync(join(folder, "empty-"));
  const storage = openStorage({ type: "folder", folder: empty }, "pre/fix/", folder);
  expect(await storage.list("x", new AbortController().signal)).toEqual([]);
  expect(readdirSync(empty)).toEqual([]);
  await storage.write("x/1", Buffer.from("x"), new AbortController().signal);
  expect(readdirSync(join(empty, "pre/fix/x"))).toEqual(["1"]);
});

const login =
  "Unexpected (temporary) at list, context: { called: reqsign::LoadCredential } => loading credential to sign http request, source:";
const context =
  'context: { uri: http://h/b?X-Signature=canary, response: Parts { status: 400, headers: {"x": "canary"} } }';
test.each([
  ["NotFound (permanent) at read, context: { path: a } => entity not found", "BackupMissing"],
  [
    "Unexpected (temporary) at write, context: {} => send http request, source: error for url (http://h/?sig=canary)",
    "StoreUnreachable",
  ],
  ["Unexpected (persistent) at write => No space left on device (os error 28)", "StoreFull"],
  ["Unexpected (permanent) at write => Disk quota exceeded (os error 122)", "StoreFull"],
  ["Unexpected (permanent) at write => Read-only file system (os error 30)", "StoreRefused"],
  ["PermissionDenied (permanent) at write => Permission denied (os error 13)", "StoreRefused"],
  [
    `Unexpected (permanent) at write, ${context} => S3Error { code: "InvalidBucketName", message: "canary" }`,
    "StoreRefused",
  ],
  [
    `Unexpected (temporary) at write, ${context.replace("400", "503")} => S3Error { code: "SlowDown" }`,
    "StoreUnreachable",
  ],
  [
    `RateLimited (temporary) at write, ${context.replace("400", "429")} => S3Error { code: "SlowDown" }`,
    "StoreUnreachable",
  ],
  [`Unexpected (permanent) at write, ${context.replace("400", "507")} => XMinioStorageFull`, "StoreFull"],
  [
    "Unexpected (permanent) at delete, context: { response: Parts { status: 400 } } => ErrDirectoryNotEmpty",
    "StoreUnreachable",
  ],
  ["Unexpected (permanent) at delete, context: { } => Directory not empty (os error 39)", "StoreUnreachable"],
  [`${login} exchange token failed: {"error": "invalid_grant", "error_description": "canary"}`, "StoreRefused"],
  [`${login} exchange token failed: <html>502 canary</html>`, "StoreUnreachable"],
  [`${login} InvalidKeyFormat`, "StoreRefused"],
  [`${login} error sending request for url (https://oauth2.googleapis.com/token)`, "StoreUnreachable"],
  ["something else", "StoreUnreachable"],
])("%s is %s", (text, reason) => {
  const error = translateOpendalError(new Error(text), "write", "the store");
  expect(error.reason).toBe(reason);
  expect(error.message).not.toContain("canary");
});
