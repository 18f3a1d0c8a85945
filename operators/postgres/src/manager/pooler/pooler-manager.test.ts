import { beforeEach, expect, test } from "vitest";
import type { DesiredPooler } from "../../instance/pooler-protocol.ts";
import { AnswerReader } from "./admin-console.ts";
import { parseDesiredPooler } from "./parse-pooler.ts";
import { poolerConfiguration } from "./pooler-files.ts";
import { PoolerManager } from "./pooler-manager.ts";

const desired: DesiredPooler = {
  term: 3,
  host: "orders-1.orders.default.svc",
  settings: { poolMode: "transaction", parameters: { default_pool_size: "7" } },
};

let nowMs = 0;
let commands: string[] = [];
let isAlive = false;
let endPause: () => void = () => undefined;

function manager(): PoolerManager {
  return new PoolerManager({
    clock: { monotonic: () => nowMs, sleep: () => Promise.resolve() },
    bouncer: {
      get isAlive() {
        return isAlive;
      },
      lastWords: undefined,
      start: () => void (isAlive = true),
    },
    command(text, signal) {
      commands.push(text);
      if (text === "show version") return Promise.resolve([{ version: "PgBouncer 1.24.1" }]);
      if (text !== "pause") return Promise.resolve([]);
      return new Promise((resolve, reject) => {
        endPause = () => resolve([]);
        signal.addEventListener("abort", () => reject(new Error("aborted")));
      });
    },
    files: {
      writeConfiguration: () => undefined,
      saveDesired: () => undefined,
      readDesired: () => undefined,
      certificates: () => "certificates",
    },
    wakeup: { wake: () => undefined, sleep: () => Promise.resolve() } as never,
  });
}

beforeEach(() => {
  [nowMs, commands, isAlive] = [10_000, [], false];
});

async function running(): Promise<PoolerManager> {
  const subject = manager();
  await subject.follow(desired);
  await subject.step();
  await subject.step();
  commands = [];
  return subject;
}

test("it waits for the operator, starts, and is ready when the console answers", async () => {
  const subject = manager();
  await subject.step();
  expect((await subject.report()).message).toBe("waiting for the operator");
  await subject.follow(desired);
  await subject.step();
  expect(subject.isReady).toBe(false);
  await subject.step();
  expect(subject.isReady).toBe(true);
  expect(await subject.report()).toMatchObject({ pause: "no", term: 3, version: "PgBouncer 1.24.1" });
});

test("clients wait before the server changes, and until it has", async () => {
  const subject = await running();
  await subject.follow({ ...desired, pauseMs: 5_000 });
  await subject.step();
  expect((await subject.report()).pause).toBe("pausing");
  endPause();
  await Promise.resolve();
  expect((await subject.report()).pause).toBe("yes");
  await subject.follow({ ...desired, term: 4, host: "orders-2.orders.default.svc", pauseMs: 5_000 });
  await subject.step();
  await subject.follow({ ...desired, term: 4, host: "orders-2.orders.default.svc" });
  await subject.step();
  expect(commands.filter((each) => !each.startsWith("show"))).toEqual(["pause", "reload", "resume"]);
  expect((await subject.report()).pause).toBe("no");
});

test("a pause that nobody renews ends by itself", async () => {
  const subject = await running();
  await subject.follow({ ...desired, pauseMs: 5_000 });
  await subject.step();
  nowMs += 5_000;
  await subject.step();
  expect(commands.at(-1)).toBe("resume");
});

test("a document of an older term is refused", async () => {
  const subject = await running();
  await expect(subject.follow({ ...desired, term: 2 })).rejects.toThrow(/Cannot go back to term 2/);
});

test("a process that has ended is not ready, and holds nobody up", async () => {
  const subject = await running();
  await subject.follow({ ...desired, pauseMs: 5_000 });
  await subject.step();
  isAlive = false;
  subject.ended();
  expect(subject.isReady).toBe(false);
  expect((await subject.report()).pause).toBe("no");
});

test("the operator's settings stand after those of the user", () => {
  const parameters = { auth_type: "trust", default_pool_size: "7" };
  const text = poolerConfiguration({ ...desired, settings: { ...desired.settings, parameters } });
  expect(text).toContain("* = host=orders-1.orders.default.svc port=5432");
  expect(text).toContain("default_pool_size = 7");
  expect(text).toContain("auth_type = scram-sha-256");
  expect(text).not.toContain("auth_type = trust");
});

test.each([
  [{ ...desired, host: "a\nb" }, "Cannot read host: expected one line"],
  [
    { ...desired, settings: { ...desired.settings, parameters: { verbose: "1\nadmin_users=app" } } },
    "expected one line",
  ],
  [{ ...desired, settings: { poolMode: "all", parameters: {} } }, "Cannot read poolMode: expected one of session"],
])("what is no document is refused with the field", (document, message) => {
  expect(() => parseDesiredPooler(document)).toThrow(message);
});

function message(kind: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(kind);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

test("the console's rows are read from pieces of any size", () => {
  const column = Buffer.concat([Buffer.from("cl_waiting\0"), Buffer.alloc(18)]);
  const bytes = Buffer.concat([
    message("R", Buffer.alloc(4)),
    message("Z", Buffer.from("I")),
    message("T", Buffer.concat([Buffer.from([0, 1]), column])),
    message("D", Buffer.concat([Buffer.from([0, 1, 0, 0, 0, 2]), Buffer.from("12")])),
    message("Z", Buffer.from("I")),
  ]);
  const reader = new AnswerReader();
  const events = [...bytes].flatMap((byte) => reader.push(Buffer.from([byte])));
  expect(events).toEqual(["ready", "ready"]);
  expect(reader.rows).toEqual([{ cl_waiting: "12" }]);
});

test("an error of the console is its message", () => {
  const reader = new AnswerReader();
  expect(reader.push(message("E", Buffer.from("SERROR\0Mnot paused\0\0")))).toEqual([{ error: "not paused" }]);
});
