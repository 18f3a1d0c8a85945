/** What the agent does for acceptance tests: a client of the instance, and a bad disk. */
import { expect, test } from "vitest";
import type { EngineAgent } from "../engine/agent.ts";
import { TransferError } from "../engine/transfer-error.ts";
import { AgentSetting, sampleEngine } from "./agent-setting.fixture.ts";

const prefix = "probe/";
const object = "sample/default/orders/first";

function withValues(setting: AgentSetting, values: Map<string, string>, refusals: Error[] = []): void {
  const answer = (): void => {
    const refusal = refusals.shift();
    if (refusal !== undefined) throw refusal;
  };
  const engine: EngineAgent = {
    ...sampleEngine(() => setting.data),
    values: {
      async write(key, value) {
        answer();
        values.set(key, value);
      },
      async read(key) {
        answer();
        return values.get(key);
      },
    },
  };
  setting.engines = { sample: engine };
}

test("keys are written and read, and one that is missing is named", async () => {
  using setting = new AgentSetting();
  const values = new Map<string, string>();
  withValues(setting, values);
  const written = await setting.run({ task: "write", prefix, count: 3, pauseMs: 0 });
  expect(written.result).toMatchObject({ outcome: "done", probe: { entries: 3 } });
  expect([...values]).toEqual([0, 1, 2].map((index) => [`${prefix}${index}`, `${prefix}${index}`]));
  values.delete(`${prefix}1`);
  values.set(`${prefix}2`, "changed");
  const read = await setting.run({ task: "read", prefix, count: 3 });
  const wrong = [`${prefix}1`, `${prefix}2`];
  expect(read.result).toEqual({ outcome: "done", probe: { entries: 1, wrong } });
});

test("a client tries again while the instance does not answer, and gives up when it is refused", async () => {
  using setting = new AgentSetting();
  withValues(setting, new Map(), [new Error("connection refused")]);
  const patient = await setting.run({ task: "write", prefix, count: 2, pauseMs: 0 });
  expect(patient.result).toMatchObject({ outcome: "done", probe: { entries: 2 } });
  withValues(setting, new Map(), [new TransferError("SourceRefused", "permission denied")]);
  const refused = await setting.run({ task: "write", prefix, count: 2, pauseMs: 0 });
  expect(refused).toMatchObject({ exitCode: 1, result: { outcome: "failed", reason: "SourceRefused" } });
});

test("an engine without values refuses to be a client", async () => {
  using setting = new AgentSetting();
  const { result } = await setting.run({ task: "read", prefix, count: 1 });
  expect(result).toMatchObject({ outcome: "failed", reason: "RequestInvalid" });
});

test.each([["plain"], ["encrypted"]])("a %s backup that the agent has damaged is refused", async (kind) => {
  using setting = new AgentSetting();
  if (kind === "encrypted") setting.encrypt("2026");
  await setting.run({ task: "backup", object });
  expect((await setting.run({ task: "damage", object })).result).toEqual({ outcome: "done" });
  expect((await setting.run({ task: "fetch", object })).result).toMatchObject({ reason: "BackupDamaged" });
});
