import { expect, test } from "vitest";
import { AgentSetting, type Ran, sampleData, sampleEngine } from "./agent-setting.fixture.ts";

const object = "sample/default/orders/first";

function reasonOf({ result }: Ran): string {
  return result.outcome === "done" ? "done" : result.reason;
}

test.each([["plain"], ["encrypted"]])("a %s backup is verified, fetched and deleted", async (kind) => {
  using setting = new AgentSetting();
  setting.data = sampleData(9 * 1024 * 1024);
  if (kind === "encrypted") setting.encrypt("2026");
  const { exitCode, result } = await setting.run({ task: "backup", object });
  expect(result).toMatchObject({
    outcome: "done",
    backup: { engine: "sample", position: "42", dataBytes: setting.data.length },
  });
  expect(exitCode).toBe(0);
  expect(setting.files()).toEqual([`${object}.json`, `${object}/00000001`, `${object}/00000002`].toSorted());
  const stored = Buffer.concat([setting.bytesOf(`${object}/00000001`), setting.bytesOf(`${object}/00000002`)]);
  expect(stored.equals(setting.data)).toBe(kind === "plain");

  expect((await setting.run({ task: "verify", object })).result).toEqual(result);
  expect((await setting.run({ task: "fetch", object })).result).toEqual(result);
  expect(setting.fetched()?.equals(setting.data)).toBe(true);
  expect((await setting.run({ task: "delete", object })).result).toEqual({ outcome: "done" });
  expect(setting.files()).toEqual([]);
  expect((await setting.run({ task: "delete", object })).result).toEqual({ outcome: "done" });
  expect(reasonOf(await setting.run({ task: "verify", object }))).toBe("BackupMissing");
});

test("a backup that is complete already is the result of a repeated request", async () => {
  using setting = new AgentSetting();
  const first = await setting.run({ task: "backup", object });
  setting.data = sampleData(100_000, 3);
  expect((await setting.run({ task: "backup", object })).result).toEqual(first.result);
});

test("a backup that was damaged is taken again by a repeated request", async () => {
  using setting = new AgentSetting();
  await setting.run({ task: "backup", object });
  setting.put(`${object}/00000001`, Buffer.from("damaged"));
  setting.data = sampleData(100_000, 3);
  expect((await setting.run({ task: "backup", object })).result).toMatchObject({
    outcome: "done",
    backup: { dataBytes: 100_000 },
  });
});

test("a snapshot that the engine cannot restore is no backup, and nothing of it is left", async () => {
  using setting = new AgentSetting();
  setting.data = Buffer.concat([sampleData(100_000), Buffer.from("x")]);
  const ran = await setting.run({ task: "backup", object });
  expect(ran.exitCode).toBe(1);
  expect(reasonOf(ran)).toBe("ReadBackDiffers");
  expect(setting.files()).toEqual([]);
});

test("a snapshot that breaks off is no backup, and nothing of it is left", async () => {
  using setting = new AgentSetting();
  setting.engines = {
    sample: {
      ...sampleEngine(() => setting.data),
      async snapshot() {
        async function* pieces(): AsyncGenerator<Uint8Array> {
          yield Buffer.alloc(20_000_000);
          throw new Error("connection reset");
        }
        return { data: pieces(), facts: Promise.reject(new Error("incomplete")) };
      },
    },
  };
  const { result } = await setting.run({ task: "backup", object });
  expect(result).toMatchObject({ outcome: "failed", reason: "InternalError", retry: true });
  expect(setting.files()).toEqual([]);
});

test("keys are rotated: each backup is read with the key that it names", async () => {
  using setting = new AgentSetting();
  setting.encrypt("2025");
  await setting.run({ task: "backup", object: "a" });
  setting.encrypt("2026");
  await setting.run({ task: "backup", object: "b" });
  expect(reasonOf(await setting.run({ task: "verify", object: "a" }))).toBe("done");
  expect(reasonOf(await setting.run({ task: "verify", object: "b" }))).toBe("done");
  setting.forgetKey("2025");
  expect((await setting.run({ task: "verify", object: "a" })).result).toMatchObject({
    reason: "KeyMissing",
    retry: false,
    message: expect.stringContaining('"2025"') as string,
  });
  expect(reasonOf(await setting.run({ task: "verify", object: "b" }))).toBe("done");
});

test.each([[16], [0], [33]])("a key of %s bytes is refused before anything is stored", async (length) => {
  using setting = new AgentSetting();
  setting.encrypt("short", Buffer.alloc(length, 1));
  expect(reasonOf(await setting.run({ task: "backup", object }))).toBe("KeyInvalid");
  expect(setting.files()).toEqual([]);
});

test("an unencrypted backup in an encrypted store is refused, unless its Backup says that it is unencrypted", async () => {
  using setting = new AgentSetting();
  const { result } = await setting.run({ task: "backup", object });
  const sha256 = result.outcome === "done" ? (result.backup?.sha256 ?? "") : "";
  setting.encrypt("2026");
  expect(reasonOf(await setting.run({ task: "verify", object }))).toBe("BackupNotEncrypted");
  expect(reasonOf(await setting.run({ task: "fetch", object }))).toBe("BackupNotEncrypted");
  expect(setting.fetched()).toBeUndefined();
  expect(reasonOf(await setting.run({ task: "verify", object, expected: { sha256 } }))).toBe("done");
  const encrypted = { sha256, encryptionKey: "2026" };
  expect(reasonOf(await setting.run({ task: "verify", object, expected: encrypted }))).toBe("BackupDamaged");
});

test("an older backup in place of the expected one is refused", async () => {
  using setting = new AgentSetting();
  setting.encrypt("2026");
  await setting.run({ task: "backup", object });
  const expected = { sha256: "0".repeat(64), encryptionKey: "2026" };
  expect(reasonOf(await setting.run({ task: "verify", object, expected }))).toBe("BackupDamaged");
});

test.each([["../outside"], ["a/../b"], ["/a"], ["a//b"], ["a/"], [".hidden"], [""], ["a".repeat(900)], ["a b"]])(
  "the object %j is refused",
  async (bad) => {
    using setting = new AgentSetting();
    expect(reasonOf(await setting.run({ task: "backup", object: bad }))).toBe("RequestInvalid");
    expect(setting.files()).toEqual([]);
  },
);

test.each([
  ["no request", {}],
  ["no JSON", { SETPOINT_AGENT_REQUEST: "{" }],
  ["an unknown task", { SETPOINT_AGENT_REQUEST: '{"task":"x"}' }],
])("%s is a failure with a reason", async (_name, environment) => {
  using setting = new AgentSetting();
  const ran = await setting.run({ task: "verify", object }, { environment });
  expect(reasonOf(ran)).toBe("RequestInvalid");
  expect(ran.exitCode).toBe(1);
});

test("an aborted backup leaves nothing, and says that it was stopped", async () => {
  using setting = new AgentSetting();
  const controller = new AbortController();
  setting.engines = {
    sample: {
      ...sampleEngine(() => setting.data),
      async snapshot() {
        async function* pieces(): AsyncGenerator<Uint8Array> {
          for (let index = 0; index < 40; index++) {
            if (index === 35) controller.abort();
            yield Buffer.alloc(1 << 20);
          }
        }
        return { data: pieces(), facts: Promise.resolve({ engineVersion: "1", position: "1" }) };
      },
    },
  };
  const { result } = await setting.run({ task: "backup", object }, { signal: controller.signal });
  expect(result).toMatchObject({ outcome: "failed", reason: "Cancelled", retry: true });
  expect(setting.files()).toEqual([]);
});

test("a termination log that cannot be written is exit code 1", async () => {
  using setting = new AgentSetting();
  await expect(setting.run({ task: "backup", object }, { terminationLog: setting.root })).rejects.toThrow(/ENOENT/);
});
