import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigMap, Secret } from "@setpoint/api";
import type { Transport } from "@setpoint/apimachinery";
import { randomSuffix, sleep } from "@setpoint/host";
import { controller, defineKind, defineOperator, type Operator } from "setpoint";
import { expect, test } from "vitest";
import { z } from "zod";
import { divergenceText } from "../commands/replay.ts";
import { ownFolder } from "../own-folder.fixture.ts";
import { ownPlane } from "../own-plane.fixture.ts";
import { recordOperator } from "./record-operator.ts";
import { RecordingFile, readRecording } from "./recording-file.ts";
import { replayOperator } from "./replay-operator.ts";

const { host, plane, client } = await ownPlane({ controllers: false });
const folder = ownFolder("flight");
const canary = "canary-4f1d-of-a-password";

const Note = defineKind({
  group: "flight.setpoint.dev",
  version: "v1",
  kind: "Note",
  spec: z.object({ text: z.string() }),
  status: z.object({ seen: z.string(), at: z.string() }),
});

/**
 * It uses everything that could differ between two runs: the clock, randomness, timers, and the order of
 * events.
 */
function noteOperator(greeting = "hello"): Operator {
  const seen: string[] = [];
  const notes = controller(Note, {
    owns: [ConfigMap, Secret],
    async reconcile(note, context) {
      const { name } = note.metadata;
      seen.push(name);
      const text = `${greeting} ${note.spec.text} after ${seen.length} runs`;
      await context.apply(ConfigMap({ name: `${name}-${seen.length % 2}`, data: { text } }));
      if (context.get(Secret, `${name}-key`) === undefined) {
        const data = { password: btoa(`${canary}-${randomSuffix(context.host.random, 6)}`) };
        await context.apply(Secret({ name: `${name}-key`, data }));
      }
      await context.status({ seen: seen.slice(-5).join(), at: new Date(context.host.clock.now()).toISOString() });
      return context.requeueAfter(20 + context.host.random.int(30), "again, at some time");
    },
  });
  return defineOperator({ name: "notes", controllers: [notes] });
}

for (const crd of noteOperator().crds())
  await client.request({ method: "POST", path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body: crd });

/** Enough to be worth a replay, on a machine that has other work too. */
const writesMin = 21;

/** Counts what changes something. */
function counting(transport: Transport): { readonly transport: Transport; readonly writes: () => number } {
  let writes = 0;
  const send: Transport["send"] = (request, signal) => {
    if (request.method !== "GET") writes++;
    return transport.send(request, signal);
  };
  return { transport: { send }, writes: () => writes };
}

/** People who change things while it runs, until it has written enough. */
async function churn(writes: () => number): Promise<void> {
  const deadline = host.clock.monotonic() + 15_000;
  for (let i = 0; i < 12 || (writes() < writesMin && host.clock.monotonic() < deadline); i++) {
    await sleep(host.clock, 15);
    const name = `note-${i % 4}`;
    const object = Note({ name, namespace: "default", spec: { text: `text ${i}` } });
    await client.apply(Note, object, { fieldManager: "people", force: true });
    if (i === 8) await client.delete(Note, { name: "note-0", namespace: "default" });
  }
}

async function recordChurn(path: string, bytesMax = 50_000_000): Promise<number> {
  let file: RecordingFile | undefined;
  const sink = (header: ConstructorParameters<typeof RecordingFile>[1]): RecordingFile =>
    (file = new RecordingFile(path, header, bytesMax));
  const { transport, writes } = counting(plane.transport);
  const { requests } = await recordOperator({ operator: noteOperator(), transport, host, sink }, churn(writes));
  file?.[Symbol.dispose]();
  return requests;
}

const path = join(folder, "churn.jsonl");
const requests = await recordChurn(path);

test("a recorded run with churn is replayed bit for bit", async () => {
  const recording = readRecording(path);
  const result = await replayOperator(noteOperator(), recording, host);
  expect(result.divergence).toBeUndefined();
  expect(result.end).toBe("stopped");
  expect(result.requests).toBe(requests);
  expect(result.writes.length).toBeGreaterThanOrEqual(writesMin);
  const isWrite = (method: string): boolean => method !== "GET";
  const recorded = recording.entries.flatMap((entry) =>
    entry.kind === "request" && isWrite(entry.request.method) ? [entry.request] : [],
  );
  expect(result.writes.map(({ request }) => request)).toEqual(recorded);
});

test("a changed operator diverges, and the first request that differs is reported", async () => {
  const { divergence } = await replayOperator(noteOperator("good day"), readRecording(path), host);
  expect(divergence?.message).toMatch(
    /^PATCH \/api\/v1\/namespaces\/default\/configmaps\/note-\d-1 is not as recorded$/,
  );
  const text = divergence === undefined ? "" : divergenceText(divergence);
  expect(text).toMatch(/^Diverged at entry \d+, \d+\.\d{3} s after the start: PATCH /);
  expect(text).toContain('  - body.data.text: "hello text');
  expect(text).toContain('  + body.data.text: "good day text');
});

test("an operator that does less diverges too", async () => {
  const idle = controller(Note, { owns: [ConfigMap, Secret], async reconcile() {} });
  const { divergence } = await replayOperator(
    defineOperator({ name: "notes", controllers: [idle] }),
    readRecording(path),
    host,
  );
  expect(divergence?.message).toMatch(/^the recording has PATCH .*, the program sent nothing$/);
});

test("nothing of a secret is in the file", () => {
  const text = readFileSync(path, "utf8");
  expect(text).not.toContain(canary);
  expect(text).not.toContain(btoa(canary).slice(0, 24));
  expect(text).toContain(btoa("redacted-1"));
});

test("a recording has a limit and says when it was full; it can be replayed up to there", async () => {
  const small = join(folder, "small.jsonl");
  await recordChurn(small, 40_000);
  const text = readFileSync(small, "utf8");
  expect(text.length).toBeLessThan(41_000);
  const result = await replayOperator(noteOperator(), readRecording(small), host);
  expect(result).toMatchObject({ divergence: undefined, end: "full" });
});

test("a recording whose program was killed is replayed up to its last whole line", async () => {
  const cut = join(folder, "cut.jsonl");
  writeFileSync(cut, readFileSync(path, "utf8").slice(0, -2_000));
  expect(await replayOperator(noteOperator(), readRecording(cut), host)).toMatchObject({
    divergence: undefined,
    end: "cut",
  });
});

test("what is no recording is refused with a sentence", () => {
  const other = join(folder, "other.json");
  writeFileSync(other, '{"format":"setpoint-flight/0"}\n');
  expect(() => readRecording(other)).toThrow(
    `Cannot use the recording "${other}": it is "setpoint-flight/0", expected "setpoint-flight/1"`,
  );
  const text = join(folder, "text");
  writeFileSync(text, "kind: ConfigMap\n");
  expect(() => readRecording(text)).toThrow('it has no header with the format "setpoint-flight/1"');
  expect(() => readRecording(join(folder, "none"))).toThrow("it cannot be read");
});
