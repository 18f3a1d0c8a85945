import { type Clock, silentLogger } from "@setpoint/host";
import { systemClock } from "@setpoint/host/system";
import { expect, test, vi } from "vitest";
import { FakeEtcd } from "./fake-etcd.fixture.ts";
import { bytesOf } from "./key-range.ts";
import { runMirrorLoop } from "./mirror-loop.ts";
import { type MirrorRecord, parseRecord, recordKeyOf } from "./mirror-record.ts";

/** Two hundred times as quick. */
const clock: Clock = {
  now: () => systemClock.monotonic() * 200,
  monotonic: () => systemClock.monotonic() * 200,
  defer: (run) => systemClock.defer(run),
  setTimer: (run, delayMs) => systemClock.setTimer(run, delayMs / 200),
};

interface Settings {
  readonly prefix?: string;
  readonly destinationPrefix?: string;
  readonly replacesKeys?: boolean;
  readonly recordKey?: string;
}

const usualKey = recordKeyOf("uid-1");

/** A mirror that runs until it is disposed of. */
class RunningMirror implements AsyncDisposable {
  readonly #controller = new AbortController();
  readonly #loop: Promise<void>;
  readonly #destination: FakeEtcd;
  readonly #recordKey: string;

  constructor(source: FakeEtcd, destination: FakeEtcd, settings: Settings = {}) {
    const { prefix = "", destinationPrefix = prefix, replacesKeys = false, recordKey = usualKey } = settings;
    this.#destination = destination;
    this.#recordKey = recordKey;
    this.#loop = runMirrorLoop({
      connect: (signal) => ({
        source: source.end("Source", signal),
        destination: destination.end("Destination", signal),
      }),
      mapping: { source: bytesOf(prefix), destination: bytesOf(destinationPrefix) },
      ...{ recordKey, replacesKeys, clock, log: silentLogger },
      conceal: (text) => text.replaceAll("canary-password", "(secret)"),
      signal: this.#controller.signal,
    });
  }

  get record(): MirrorRecord | undefined {
    return parseRecord(this.#destination.text(this.#recordKey));
  }

  async until(check: () => void): Promise<void> {
    await vi.waitFor(check, { timeout: 5_000, interval: 5 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#controller.abort();
    await this.#loop;
  }
}

test("all keys are copied in pages, then each write and each deletion follows", async () => {
  const all = Object.fromEntries(Array.from({ length: 400 }, (_, index) => [`key-${index}`, `value-${index}`]));
  const [source, destination] = [new FakeEtcd("1", all), new FakeEtcd("2")];
  await using mirror = new RunningMirror(source, destination);
  await mirror.until(() => expect(mirror.record?.copies).toBe(1));
  expect(destination.keys).toEqual(all);
  expect(mirror.record).toMatchObject({ keys: 400, revision: source.revision });
  source.put("key-1", "changed");
  source.put("new", "1");
  source.delete("key-2");
  await mirror.until(() => expect(destination.keys).toEqual(source.keys));
  await mirror.until(() => expect(mirror.record?.revision).toBe(source.revision));
  for (const { changes } of destination.commits) expect(changes.length).toBeLessThanOrEqual(127);
});

test("only keys with the prefix are copied, under the other prefix, and no other key is touched", async () => {
  const source = new FakeEtcd("1", { "/shop/a": "1", "/shop/é": "2", "/shoq": "no", other: "no" });
  const destination = new FakeEtcd("2", { other: "stays", "/copy": "stays" });
  await using mirror = new RunningMirror(source, destination, { prefix: "/shop/", destinationPrefix: "/copy/" });
  const others = { other: "stays", "/copy": "stays" };
  const copied = { "/copy/a": "1", "/copy/é": "2" };
  await mirror.until(() => expect(destination.keys).toEqual({ ...others, ...copied }));
  source.delete("/shop/a");
  source.put("other", "still no");
  await mirror.until(() => expect(destination.keys).toEqual({ ...others, "/copy/é": "2" }));
});

test("a destination that has keys is left alone, until it may be replaced", async () => {
  const [source, destination] = [new FakeEtcd("1", { a: "1" }), new FakeEtcd("2", { a: "old", b: "old" })];
  {
    await using mirror = new RunningMirror(source, destination);
    await mirror.until(() => expect(mirror.record?.problem?.reason).toBe("DestinationNotEmpty"));
    const before = destination.revision;
    // Another attempt sees the record of this one, and must not take the keys for its own.
    await mirror.until(() => expect(destination.revision).toBeGreaterThan(before + 1));
    expect(destination.keys).toEqual({ a: "old", b: "old" });
  }
  await using mirror = new RunningMirror(source, destination, { replacesKeys: true });
  await mirror.until(() => expect(destination.keys).toEqual({ a: "1" }));
  await mirror.until(() => expect(mirror.record?.problem).toBeUndefined());
});

test("a restarted mirror goes on from its record, and copies nothing again", async () => {
  const [source, destination] = [new FakeEtcd("1", { a: "1", b: "2" }), new FakeEtcd("2")];
  {
    await using mirror = new RunningMirror(source, destination);
    await mirror.until(() => expect(mirror.record?.copies).toBe(1));
  }
  source.put("c", "3");
  source.delete("a");
  // It would be deleted by a copy, and shows that there was none.
  destination.put("written by hand", "stays");
  await using mirror = new RunningMirror(source, destination);
  await mirror.until(() => expect(destination.keys).toEqual({ b: "2", c: "3", "written by hand": "stays" }));
  expect(mirror.record?.copies).toBe(1);
});

test("when the history is gone, everything is compared: keys that are gone at the source are deleted", async () => {
  const [source, destination] = [new FakeEtcd("1", { a: "1", b: "2" }), new FakeEtcd("2")];
  {
    await using mirror = new RunningMirror(source, destination);
    await mirror.until(() => expect(mirror.record?.copies).toBe(1));
  }
  source.delete("a");
  source.put("c", "3");
  source.compact();
  const before = destination.commits.length;
  await using mirror = new RunningMirror(source, destination);
  await mirror.until(() => expect(mirror.record?.copies).toBe(2));
  expect(destination.keys).toEqual({ b: "2", c: "3" });
  const written = destination.commits.slice(before).flatMap(({ changes }) => changes.map(({ key }) => key));
  expect(written.toSorted()).toEqual(["a", "c"]);
});

test("an etcd that was set up again at the endpoints does not empty the destination", async () => {
  const destination = new FakeEtcd("2");
  {
    await using mirror = new RunningMirror(new FakeEtcd("1", { a: "1", b: "2" }), destination);
    await mirror.until(() => expect(mirror.record?.copies).toBe(1));
  }
  await using mirror = new RunningMirror(new FakeEtcd("3"), destination);
  await mirror.until(() => expect(mirror.record?.problem?.reason).toBe("SourceReplaced"));
  expect(destination.keys).toEqual({ a: "1", b: "2" });
});

test("with permission, another cluster at the endpoints, or one that went back to older data, is compared too", async () => {
  const destination = new FakeEtcd("2");
  const first = new FakeEtcd("1", { a: "1", b: "2", c: "3" });
  {
    await using mirror = new RunningMirror(first, destination);
    await mirror.until(() => expect(mirror.record?.copies).toBe(1));
  }
  {
    await using mirror = new RunningMirror(new FakeEtcd("1", { a: "older" }), destination, { replacesKeys: true });
    await mirror.until(() => expect(destination.keys).toEqual({ a: "older" }));
    await mirror.until(() => expect(mirror.record?.copies).toBe(2));
  }
  await using mirror = new RunningMirror(new FakeEtcd("3", { a: "1", z: "1", y: "1", x: "1" }), destination, {
    replacesKeys: true,
  });
  await mirror.until(() => expect(destination.keys).toEqual({ a: "1", x: "1", y: "1", z: "1" }));
});

test("the record follows a value that leaves no room for it", async () => {
  const [source, destination] = [new FakeEtcd("1", { a: "1" }), new FakeEtcd("2")];
  await using mirror = new RunningMirror(source, destination);
  await mirror.until(() => expect(mirror.record?.copies).toBe(1));
  source.put("large", "x".repeat(1_600_000));
  const { revision = 0 } = mirror.record ?? {};
  await mirror.until(() => expect(mirror.record?.revision).toBeGreaterThan(revision));
});

test("a source that does not answer is reported without secrets, and followed again later", async () => {
  const [source, destination] = [new FakeEtcd("1", { a: "1" }), new FakeEtcd("2")];
  await using mirror = new RunningMirror(source, destination);
  await mirror.until(() => expect(mirror.record?.copies).toBe(1));
  source.isReachable = false;
  source.wake();
  await mirror.until(() => expect(mirror.record?.problem?.reason).toBe("SourceUnreachable"));
  expect(mirror.record?.problem?.message).toBe("no answer with (secret)");
  source.put("b", "2");
  source.isReachable = true;
  await mirror.until(() => expect(destination.keys).toEqual({ a: "1", b: "2" }));
  await mirror.until(() => expect(mirror.record?.problem).toBeUndefined());
  expect(mirror.record?.copies).toBe(1);
});

test("a pod whose place another one has taken writes nothing more", async () => {
  const [source, destination] = [new FakeEtcd("1", { a: "1" }), new FakeEtcd("2")];
  await using mirror = new RunningMirror(source, destination);
  await mirror.until(() => expect(mirror.record?.copies).toBe(1));
  const taken = JSON.stringify({ ...mirror.record, keys: 77 });
  let refused = 0;
  destination.beforeCommit = () => {
    destination.beforeCommit = undefined;
    refused = destination.commits.length;
    destination.put(usualKey, taken);
  };
  source.put("b", "2");
  await mirror.until(() => expect(destination.keys).toEqual({ a: "1", b: "2" }));
  // The first write after it is that of an attempt that has read the other's record.
  expect(destination.commits[refused]).toMatchObject({ changes: [], record: expect.stringContaining('"keys":77') });
});

test("a mirror of a cluster into itself is refused where the prefixes overlap", async () => {
  const etcd = new FakeEtcd("1", { "/a/x": "1" });
  {
    await using mirror = new RunningMirror(etcd, etcd, { prefix: "/a/", destinationPrefix: "/a/b/" });
    await mirror.until(() => expect(mirror.record?.problem?.reason).toBe("SameCluster"));
    expect(etcd.keys).toEqual({ "/a/x": "1" });
  }
  await using _ = new RunningMirror(etcd, etcd, { prefix: "/a/", destinationPrefix: "/c/" });
  await vi.waitFor(() => expect(etcd.keys).toEqual({ "/a/x": "1", "/c/x": "1" }), { timeout: 5_000 });
});

test("at rest only the record is written, about once a minute", async () => {
  const [source, destination] = [new FakeEtcd("1", { a: "1" }), new FakeEtcd("2")];
  await using mirror = new RunningMirror(source, destination);
  await mirror.until(() => expect(mirror.record?.copies).toBe(1));
  const before = destination.revision;
  await new Promise<void>((resolve) => void clock.setTimer(resolve, 200_000));
  const written = destination.revision - before;
  expect(written).toBeGreaterThanOrEqual(1);
  expect(written).toBeLessThanOrEqual(3);
});

test("a mirror whose source has the record of an opposite one copies nothing and says so", async () => {
  const shop = new FakeEtcd("1", { "/a/x": "1" });
  const orders = new FakeEtcd("2");
  const first = { recordKey: recordKeyOf("uid-2"), prefix: "/a/" };
  await using there = new RunningMirror(shop, orders, first);
  await there.until(() => expect(orders.keys).toEqual({ "/a/x": "1" }));
  const replaces = { prefix: "/a/", replacesKeys: true };
  await using back = new RunningMirror(orders, shop, replaces);
  await back.until(() => expect(back.record?.problem?.reason).toBe("OppositeMirror"));
  expect(back.record?.problem?.message).toContain('"setpoint.dev/mirrors/uid-2"');
  shop.put("/a/y", "2");
  await there.until(() => expect(orders.keys).toEqual({ "/a/x": "1", "/a/y": "2" }));
  // A restart of the first one goes on: the refused one has copied nothing.
  await there[Symbol.asyncDispose]();
  await using again = new RunningMirror(shop, orders, first);
  shop.put("/a/z", "3");
  await again.until(() => expect(orders.keys["/a/z"]).toBe("3"));
  await again[Symbol.asyncDispose]();
  orders.delete(first.recordKey);
  await back.until(() => expect(back.record?.problem).toBeUndefined());
});

test("a mirror from the destination of another one goes on where the prefixes do not overlap", async () => {
  const shop = new FakeEtcd("1", { "/a/x": "1" });
  const orders = new FakeEtcd("2", { "/b/x": "2" });
  await using there = new RunningMirror(shop, orders, { recordKey: recordKeyOf("uid-2"), prefix: "/a/" });
  await there.until(() => expect(orders.keys["/a/x"]).toBe("1"));
  await using back = new RunningMirror(orders, shop, { prefix: "/b/" });
  await back.until(() => expect(shop.keys["/b/x"]).toBe("2"));
  expect(back.record?.problem).toBeUndefined();
});
