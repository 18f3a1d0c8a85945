/** What is wrong with stored bytes is found, wherever it is. */
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { MemoryStorage } from "../storage/memory-storage.ts";
import { AgentSetting, sampleData } from "./agent-setting.fixture.ts";

const object = "orders";
const part = `${object}/00000001`;
const manifest = `${object}.json`;
/** Chunks of 64 KiB: three full ones and a shorter one. */
const dataBytes = 200_000;
const headerLength = 8 + 4 + 32 + 7 + 16 + 1 + "2026".length + 2 + object.length;
const chunk = 65_536 + 16;

interface Stage extends Disposable {
  readonly setting: AgentSetting;
  readonly objects: Map<string, Uint8Array>;
}

async function stored(kind: string): Promise<Stage> {
  const setting = new AgentSetting();
  const storage = new MemoryStorage();
  setting.storage = () => storage;
  setting.data = sampleData(dataBytes);
  if (kind === "encrypted") setting.encrypt("2026");
  expect((await setting.run({ task: "backup", object })).exitCode).toBe(0);
  return { setting, objects: storage.objects, [Symbol.dispose]: () => setting[Symbol.dispose]() };
}

/** Neither verified nor fetched; the reason of the refusal. */
async function refusal(setting: AgentSetting): Promise<string> {
  const verified = await setting.run({ task: "verify", object });
  const fetched = await setting.run({ task: "fetch", object });
  expect([verified.exitCode, fetched.exitCode]).toEqual([1, 1]);
  expect(setting.fetched()).toBeUndefined();
  expect(fetched.text).toBe(verified.text);
  const { result } = verified;
  if (result.outcome === "done") throw new Error("unreachable");
  expect(result.retry).toBe(false);
  return result.reason;
}

function bytesAt(objects: ReadonlyMap<string, Uint8Array>, path: string): Uint8Array {
  const bytes = objects.get(path);
  if (bytes === undefined) throw new Error(`${path} is not stored`);
  return bytes;
}

function flipped(bytes: Uint8Array, at: number): Uint8Array {
  const changed = Uint8Array.from(bytes);
  changed[at] = (changed[at] ?? 0) ^ 0x10;
  return changed;
}

test.each([["plain"], ["encrypted"]])("a changed byte of a %s backup is found in each region", async (kind) => {
  using stage = await stored(kind);
  const { setting, objects } = stage;
  const good = bytesAt(objects, part);
  const header = kind === "plain" ? [] : Array.from({ length: headerLength }, (_, at) => at);
  const chunks = [0, 1, 2].flatMap((index) => {
    const start = (kind === "plain" ? 0 : headerLength) + index * chunk;
    return [start, start + 32_768, start + 65_535, start + 65_536, start + 65_551];
  });
  for (const at of [...header, ...chunks, good.length - 33, good.length - 17, good.length - 1]) {
    objects.set(part, flipped(good, at));
    // A changed salt or check value looks like another key.
    expect(["BackupDamaged", "KeyInvalid"], `byte ${at}`).toContain(await refusal(setting));
  }
  objects.set(part, good);
  expect((await setting.run({ task: "verify", object })).exitCode).toBe(0);
});

test.each([["plain"], ["encrypted"]])(
  "a changed byte of the manifest of a %s backup is found or harmless",
  async (kind) => {
    using stage = await stored(kind);
    const { setting, objects } = stage;
    const good = bytesAt(objects, manifest);
    const facts = await setting.run({ task: "verify", object });
    for (let at = 0; at < good.length; at += 3) {
      objects.set(manifest, flipped(good, at));
      const changed = await setting.run({ task: "verify", object });
      if (changed.exitCode === 1) continue;
      // White space, and in a plain manifest what no checksum covers.
      if (kind === "encrypted") expect(changed.text, `byte ${at}`).toBe(facts.text);
      expect(changed.text).toContain(/"sha256":"\w+"/.exec(facts.text)?.[0] ?? "-");
    }
  },
);

test.each([["plain"], ["encrypted"]])("a %s backup that was cut off anywhere is refused", async (kind) => {
  using stage = await stored(kind);
  const { setting, objects } = stage;
  const good = bytesAt(objects, part);
  const start = kind === "plain" ? 0 : headerLength;
  const boundaries = [0, 1, 8, start, start + 65_536, start + chunk, start + 2 * chunk, start + 3 * chunk, good.length];
  const lengths = boundaries.flatMap((at) => [at - 1, at, at + 1]).filter((at) => at >= 0 && at < good.length);
  for (const length of lengths) {
    objects.set(part, good.subarray(0, length));
    expect(await refusal(setting), `${length} bytes`).toBe("BackupDamaged");
  }
});

test.each([["plain"], ["encrypted"]])("extra bytes and extra parts of a %s backup are refused", async (kind) => {
  using stage = await stored(kind);
  const { setting, objects } = stage;
  const good = bytesAt(objects, part);
  objects.set(part, Buffer.concat([good, Buffer.alloc(1)]));
  expect(await refusal(setting)).toBe("BackupDamaged");
  objects.set(part, good);
  objects.set(`${object}/00000002`, Buffer.alloc(10));
  expect(await refusal(setting)).toBe("BackupDamaged");
});

test.each([["plain"], ["encrypted"]])("a missing part or manifest of a %s backup is refused", async (kind) => {
  using stage = await stored(kind);
  const { setting, objects } = stage;
  const good = bytesAt(objects, part);
  objects.delete(part);
  expect(await refusal(setting)).toBe("BackupDamaged");
  objects.set(part, good);
  objects.delete(manifest);
  expect(await refusal(setting)).toBe("BackupMissing");
});

test("chunks that change places, or are doubled, are refused", async () => {
  using stage = await stored("encrypted");
  const { setting, objects } = stage;
  const good = Buffer.from(bytesAt(objects, part));
  const at = (index: number): Buffer => good.subarray(headerLength + index * chunk, headerLength + (index + 1) * chunk);
  const header = good.subarray(0, headerLength);
  for (const order of [
    [1, 0, 2, 3],
    [0, 0, 2, 3],
    [0, 2, 3],
    [0, 1, 3],
    [3, 0, 1, 2],
  ]) {
    objects.set(part, Buffer.concat([header, ...order.map(at)]));
    expect(await refusal(setting), order.join()).toBe("BackupDamaged");
  }
});

test.each([["plain"], ["encrypted"]])("%s backups whose files were exchanged are refused", async (kind) => {
  using stage = await stored(kind);
  const { setting, objects } = stage;
  setting.data = sampleData(dataBytes, 9);
  await setting.run({ task: "backup", object: "bills" });
  const own = { part: bytesAt(objects, part), manifest: bytesAt(objects, manifest) };
  const other = { part: bytesAt(objects, "bills/00000001"), manifest: bytesAt(objects, "bills.json") };
  for (const swapped of [
    { ...own, part: other.part },
    { ...own, manifest: other.manifest },
    { part: other.part, manifest: other.manifest },
  ]) {
    objects.set(part, swapped.part).set(manifest, swapped.manifest);
    expect(await refusal(setting)).toBe("BackupDamaged");
  }
});

test("a manifest that was rewritten for other data is refused without the key", async () => {
  using stage = await stored("encrypted");
  const { setting, objects } = stage;
  const parsed = JSON.parse(Buffer.from(bytesAt(objects, manifest)).toString()) as { backup: object; mac?: string };
  const rewrite = (changed: object): void => void objects.set(manifest, Buffer.from(JSON.stringify(changed)));
  rewrite({ ...parsed, backup: { ...parsed.backup, position: "43" } });
  expect(await refusal(setting)).toBe("BackupDamaged");
  rewrite({ ...parsed, mac: undefined });
  expect(await refusal(setting)).toBe("BackupDamaged");
  rewrite({ ...parsed, backup: { ...parsed.backup, engine: "other" } });
  expect(await refusal(setting)).toBe("BackupDamaged");
  rewrite({ ...parsed, backup: { ...parsed.backup, encryptionKey: "../../etc/passwd" } });
  expect(await refusal(setting)).toBe("KeyMissing");
});

test("a key with another value under the same name is refused", async () => {
  using stage = await stored("encrypted");
  const { setting } = stage;
  writeFileSync(join(setting.paths.encryptionSecret, "2026"), randomBytes(32));
  expect(await refusal(setting)).toBe("BackupDamaged");
});

test("a backup of another engine is refused", async () => {
  using stage = await stored("plain");
  const { setting } = stage;
  const [sample] = Object.values(setting.engines);
  if (sample === undefined) throw new Error("unreachable");
  setting.engines = { sample, other: sample };
  const request = { task: "verify", engine: "other", store: { place: setting.place, prefix: "" }, object };
  const { result } = await setting.run(
    { task: "verify", object },
    { environment: { SETPOINT_AGENT_REQUEST: JSON.stringify(request) } },
  );
  expect(result).toMatchObject({ reason: "BackupDamaged", message: expect.stringContaining('"sample"') as string });
});
