import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type SnapshotFacts, TransferError } from "@setpoint/data-service/agent";
import { expect, test } from "vitest";
import { etcdAgent } from "./etcd-agent.ts";
import { type MemberBehaviour, snapshotOf, startMember } from "./snapshot.fixture.ts";

interface Taken {
  readonly bytes: Buffer;
  readonly facts: SnapshotFacts;
}

async function take(
  endpoints: readonly string[],
  secretFolder?: string,
  signal = new AbortController().signal,
): Promise<Taken> {
  const snapshot = await etcdAgent.snapshot({ source: { endpoints }, secretFolder, signal });
  const pieces: Uint8Array[] = [];
  for await (const piece of snapshot.data) pieces.push(piece);
  return { bytes: Buffer.concat(pieces), facts: await snapshot.facts };
}

async function failure(run: Promise<unknown>): Promise<string> {
  try {
    await run;
    return "done";
  } catch (error) {
    return error instanceof TransferError ? `${error.reason}: ${error.message}` : String(error);
  }
}

test("a snapshot has the bytes that the member sent, and its revision", async () => {
  await using member = await startMember({ revision: "812" });
  const { bytes, facts } = await take([member.endpoint]);
  expect(bytes.equals(snapshotOf(40))).toBe(true);
  expect(facts).toEqual({ engineVersion: "3.5.16", position: "812" });
});

test("the furthest follower gives the snapshot", async () => {
  await using leader = await startMember({ isLeader: true, revision: "9" });
  await using lagging = await startMember({ revision: "7" });
  await using near = await startMember({ revision: "8" });
  const { facts } = await take([leader.endpoint, lagging.endpoint, near.endpoint]);
  expect(facts.position).toBe("8");
  expect([leader.snapshots(), lagging.snapshots(), near.snapshots()]).toEqual([0, 0, 1]);
});

test("a member that cannot be reached is passed over", async () => {
  await using gone = await startMember({});
  const { endpoint } = gone;
  await gone[Symbol.asyncDispose]();
  await using member = await startMember({ isLeader: true });
  expect((await take([endpoint, member.endpoint])).facts.position).toBe("5");
});

test("no reachable member is a failure that names each of them", async () => {
  const text = await failure(take(["http://127.0.0.1:1", "http://127.0.0.1:2"]));
  expect(text).toMatch(/^SourceUnreachable: No member.*127\.0\.0\.1:1: ECONNREFUSED.*127\.0\.0\.1:2: ECONNREFUSED/);
});

test.each<[string, MemberBehaviour, RegExp]>([
  ["resets the connection", { ending: "reset" }, /^SourceUnreachable/],
  [
    "ends early",
    { ending: "silentEnd" },
    /^SourceUnreachable: .*131104 bytes missing|^SourceUnreachable: .*bytes missing/,
  ],
  ["reports an error", { ending: "error" }, /^SourceUnreachable: .*etcdserver: corrupt/],
  [
    "sends a damaged database",
    { snapshot: Buffer.alloc(50_000, 1) },
    /InvalidSnapshotError: it is no etcd database|size/,
  ],
])("a member that %s gives no snapshot", async (_name, behaviour, message) => {
  await using member = await startMember(behaviour);
  expect(await failure(take([member.endpoint]))).toMatch(message);
});

test("a login from the Secret is used; a refused one needs no retry", async () => {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-etcd-"));
  try {
    await using member = await startMember({ login: { name: "backup", password: "x" } });
    expect(await failure(take([member.endpoint], folder))).toMatch(
      /^SourceRefused: .*invalid auth token\. It asks for a login: username and password/,
    );
    writeFileSync(join(folder, "username"), "backup\n");
    writeFileSync(join(folder, "password"), "x\n");
    expect((await take([member.endpoint], folder)).facts.position).toBe("5");
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("an aborted snapshot is cancelled", async () => {
  await using member = await startMember({});
  const controller = new AbortController();
  controller.abort();
  expect(await failure(take([member.endpoint], undefined, controller.signal))).toMatch(/^Cancelled/);
});

test.each([[undefined], [{}], [{ endpoints: [] }], [{ endpoints: ["file:///etc/passwd"] }]])(
  "the source %j is refused",
  async (source) => {
    const { signal } = new AbortController();
    expect(await failure(etcdAgent.snapshot({ source, signal }))).toMatch(/^RequestInvalid/);
  },
);
