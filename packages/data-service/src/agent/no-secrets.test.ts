/**
 * Values of mounted Secrets are in no result, log or error, even when libraries, engines and stores put them
 * into their messages.
 */
import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemLogger } from "@setpoint/host/system";
import { expect, test } from "vitest";
import { TransferError } from "../engine/transfer-error.ts";
import { MemoryStorage } from "../storage/memory-storage.ts";
import { AgentSetting, sampleEngine } from "./agent-setting.fixture.ts";

const object = "orders";
const password = 'canary"pass word/+%\\1';
const serviceAccount = JSON.stringify({
  type: "service_account",
  private_key: "-----BEGIN KEY-----\ncanaryPrivateLine1\n-----END KEY-----\n",
});

/** All ways in which a library might print the secrets. */
function spellings(key: Buffer): readonly string[] {
  const texts = [password, "canary-access-key", "canaryPrivateLine1", serviceAccount];
  const encoded = texts.flatMap((text) => [
    text,
    encodeURIComponent(text),
    JSON.stringify(text),
    Buffer.from(text).toString("base64"),
    Buffer.from(text).toString("hex"),
  ]);
  return [...encoded, key.toString("base64"), key.toString("base64url"), key.toString("hex")];
}

function secretive(): { setting: AgentSetting; key: Buffer; lines: string[]; write: (line: string) => void } {
  const setting = new AgentSetting();
  const key = randomBytes(32);
  setting.encrypt("2026", key);
  writeFileSync(join(setting.paths.storeSecret, "secret-access-key"), `${password}\n`);
  writeFileSync(join(setting.paths.storeSecret, "service-account.json"), serviceAccount);
  mkdirSync(setting.paths.sourceSecret);
  writeFileSync(join(setting.paths.sourceSecret, "password"), "canary-access-key");
  const lines: string[] = [];
  return { setting, key, lines, write: (line) => void lines.push(line) };
}

function expectNone(text: string, key: Buffer): void {
  for (const spelling of spellings(key)) expect(text).not.toContain(spelling);
  for (const word of ["canaryPrivate", "canary-access", "canary%22", "pass word"]) expect(text).not.toContain(word);
}

test.each(["json", "terminal"] as const)(
  "an engine that puts secrets into its errors reveals none (%s log)",
  async (format) => {
    const { setting, key, lines, write } = secretive();
    using _ = setting;
    for (const spelling of spellings(key)) {
      for (const error of [
        new TransferError("SourceUnreachable", `Cannot log in with ${spelling}`, { cause: new Error(spelling) }),
        new Error(`Raw: ${spelling}`, { cause: new Error(`token ${spelling}`) }),
      ]) {
        setting.engines = { sample: { ...sampleEngine(() => setting.data), snapshot: () => Promise.reject(error) } };
        const { text } = await setting.run(
          { task: "backup", object },
          { log: systemLogger({ write, format, level: "debug" }) },
        );
        expect(text).toContain('"failed"');
        expectNone(text, key);
      }
    }
    expect(lines.join("")).toContain("(secret)");
    expectNone(lines.join(""), key);
  },
);

test("a store that answers with credentials reveals none", async () => {
  const { setting, key, lines, write } = secretive();
  using _ = setting;
  const storage = new MemoryStorage();
  storage.list = () =>
    Promise.reject(new TransferError("StoreRefused", `GET http://s3/?key=${encodeURIComponent(password)}`));
  setting.storage = () => storage;
  const { text } = await setting.run({ task: "backup", object }, { log: systemLogger({ write, level: "debug" }) });
  expect(text).toContain("(secret)");
  expectNone(text + lines.join(""), key);
});

test.each([
  [
    { type: "s3" as const, bucket: "bucket-1", endpoint: "http://127.0.0.1:1", region: "x" },
    ["access-key-id", "secret-access-key"],
  ],
  [{ type: "azure" as const, container: "c", endpoint: "http://127.0.0.1:1" }, ["account-name", "account-key"]],
  [{ type: "gcs" as const, bucket: "b", endpoint: "http://127.0.0.1:1" }, ["service-account.json"]],
])("the store %j fails without its credentials in the text", async (place, names) => {
  const { setting, key, lines, write } = secretive();
  using _ = setting;
  setting.place = place;
  const missing = await setting.run({ task: "verify", object }, { log: systemLogger({ write, level: "debug" }) });
  for (const name of names) writeFileSync(join(setting.paths.storeSecret, name), `canary-access-key-of-${name}`);
  const ran = await setting.run({ task: "verify", object }, { log: systemLogger({ write, level: "debug" }) });
  expect(ran.result).toMatchObject({ outcome: "failed" });
  expectNone(missing.text + ran.text + lines.join(""), key);
});

test("a result fits into the termination log, whatever its message", async () => {
  using setting = new AgentSetting();
  for (const message of [
    "x".repeat(100_000),
    '"\\\n'.repeat(3_000),
    "\u{1F4BE}".repeat(3_000),
    "\u0001".repeat(4_000),
  ]) {
    const error = new TransferError("SourceUnreachable", message);
    setting.engines = { sample: { ...sampleEngine(() => setting.data), snapshot: () => Promise.reject(error) } };
    const { text } = await setting.run({ task: "backup", object });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4_096);
  }
});
