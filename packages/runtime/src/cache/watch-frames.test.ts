import { failure, type KubeObject, type RawFrame, type WatchEventType, type WatchFrame } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";
import { expect, test } from "vitest";
import type { StagedObjects } from "./reflector-store.ts";
import { type FrameListener, followFrames, followRawFrames } from "./watch-frames.ts";

interface Box {
  readonly metadata: Readonly<Record<string, unknown>>;
}

const box = (name: string, namespace: string | undefined = "default"): Box => ({
  metadata: { name, uid: name, resourceVersion: "3", ...(namespace === "" ? {} : { namespace }) },
});
const bookmark = (value?: string): Box => ({
  metadata: {
    resourceVersion: "5",
    ...(value === undefined ? {} : { annotations: { "k8s.io/initial-events-end": value } }),
  },
});
const frame = (type: WatchEventType, object: unknown): WatchFrame => ({ type, object });
const bytes = (object: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(object));

/** Says what it hears, and is over after so many frames. */
function listener(patience = Number.POSITIVE_INFINITY): FrameListener & { readonly heardOf: string[] } {
  const heardOf: string[] = [];
  const nameOf = ({ metadata }: Stored<KubeObject>): string => metadata.name ?? metadata.resourceVersion;
  let count = 0;
  return {
    heardOf,
    onFrame() {
      if (++count > patience) throw new Error("the watch is over");
    },
    onChange: (type, object) => void heardOf.push(`${type} ${nameOf(object)}`),
    onRawChange: (type, _, scan) => void heardOf.push(`${type} bytes of ${scan.key()}`),
    onComplete: (objects, revision) => void heardOf.push(`complete ${objects.map(nameOf).join()} at ${revision}`),
    async onRawComplete(_, revision) {
      heardOf.push(`complete at ${revision}`);
    },
  };
}

async function* framesOf(frames: readonly WatchFrame[]): AsyncGenerator<WatchFrame> {
  yield* frames;
}

/** The same as bytes, two in a batch. */
async function* rawFramesOf(frames: readonly WatchFrame[]): AsyncGenerator<readonly RawFrame[]> {
  for (let i = 0; i < frames.length; i += 2)
    yield frames.slice(i, i + 2).map(({ type, object }) => ({ type, object: bytes(object) }));
}

function staged(): StagedObjects & { readonly noted: string[] } {
  const noted: string[] = [];
  const nameIn = (of: Uint8Array): string =>
    (JSON.parse(new TextDecoder().decode(of)) as Stored<KubeObject>).metadata.name;
  return {
    noted,
    add: (of) => void noted.push(`add ${nameIn(of)}`),
    remove: (of) => void noted.push(`remove ${nameIn(of)}`),
    commit: async () => {},
    discard: () => {},
  };
}

const initial = [
  frame("ADDED", box("a")),
  frame("ADDED", box("b")),
  frame("DELETED", box("b")),
  frame("ADDED", box("c", "")),
  frame("DELETED", box("c", "")),
  frame("BOOKMARK", bookmark()),
  frame("BOOKMARK", bookmark("no")),
  frame("BOOKMARK", bookmark("true")),
  frame("MODIFIED", box("a")),
  frame("BOOKMARK", bookmark()),
  frame("DELETED", box("a")),
];

test("present objects count when their end is marked, without those that went away meanwhile; then each change counts", async () => {
  const hears = listener();
  await followFrames(framesOf(initial), true, hears);
  expect(hears.heardOf).toEqual(["complete a at 5", "MODIFIED a", "BOOKMARK 5", "DELETED a"]);
});

test("the same of objects that come as bytes", async () => {
  const hears = listener();
  const objects = staged();
  await followRawFrames(rawFramesOf(initial), objects, hears);
  expect(objects.noted).toEqual(["add a", "add b", "remove b", "add c", "remove c"]);
  expect(hears.heardOf).toEqual([
    "complete at 5",
    "MODIFIED bytes of default/a",
    "BOOKMARK 5",
    "DELETED bytes of default/a",
  ]);
});

test("a stream that goes on from a revision tells from its first frame, also of bytes in a form that no server sends", async () => {
  const hears = listener();
  await followFrames(framesOf([frame("ADDED", box("a"))]), false, hears);
  const escaped = new TextEncoder().encode(JSON.stringify(box("b")).replace(`"metadata"`, String.raw`"\u006detadata"`));
  async function* odd(): AsyncGenerator<readonly RawFrame[]> {
    yield [{ type: "ADDED", object: escaped }];
  }
  await followRawFrames(odd(), undefined, hears);
  expect(hears.heardOf).toEqual(["ADDED a", "ADDED b"]);
});

test("a watch that is over tells nothing more of what has come already", async () => {
  const frames = [frame("ADDED", box("a")), frame("ADDED", box("b"))];
  const [parsed, raw] = [listener(1), listener(1)];
  await expect(followFrames(framesOf(frames), false, parsed)).rejects.toThrow("the watch is over");
  await expect(followRawFrames(rawFramesOf(frames), undefined, raw)).rejects.toThrow("the watch is over");
  expect([parsed.heardOf, raw.heardOf]).toEqual([["ADDED a"], ["ADDED bytes of default/a"]]);
});

test.each([
  [failure(410, "Expired", "too old resource version"), { code: 410, message: "too old resource version" }],
  [{ what: "is this" }, { code: 500, message: "the watch ended with an error" }],
])("an error frame ends the watch with what it says", async (object, error) => {
  const frames = [frame("ERROR", object)];
  await expect(followFrames(framesOf(frames), true, listener())).rejects.toMatchObject(error);
  await expect(followRawFrames(rawFramesOf(frames), staged(), listener())).rejects.toMatchObject(error);
});
