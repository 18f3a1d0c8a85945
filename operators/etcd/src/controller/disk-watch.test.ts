import { expect, test } from "vitest";
import type { MemberMeasurements } from "../gateway/etcd-gateway.ts";
import { DiskWatch, sampleMs } from "./disk-watch.ts";

const disk = { member: "a", pod: "pod-a", boundMs: 500 };
/** `fast` writes within 1 ms, and `slow` ones within 2 s. */
const writes = (fast: number, slow: number): MemberMeasurements => ({
  roundTrips: [],
  logWrites: [
    { withinSeconds: 0.001, count: fast },
    { withinSeconds: 1, count: fast },
    { withinSeconds: 2, count: fast + slow },
    { withinSeconds: Infinity, count: fast + slow },
  ],
});

function healthAfter(...samples: readonly (readonly [number, number])[]): unknown {
  const watch = new DiskWatch();
  samples.forEach(([fast, slow], at) => watch.note("c", disk, writes(fast, slow), at * sampleMs));
  return watch.health("c", ["a"], (samples.length - 1) * sampleMs).get("a");
}

test.each([
  ["one sample says nothing", [[100, 100]], { p99Ms: undefined, slowForMs: 0 }],
  [
    "few writes say nothing",
    [
      [0, 0],
      [0, 9],
    ],
    { p99Ms: undefined, slowForMs: 0 },
  ],
  [
    "fast writes are well",
    [
      [0, 0],
      [100, 0],
    ],
    { p99Ms: 0, slowForMs: 0 },
  ],
  [
    "1 slow write of 200 is well",
    [
      [0, 0],
      [199, 1],
    ],
    { p99Ms: 0, slowForMs: 0 },
  ],
  [
    "writes before the first sample do not count",
    [
      [0, 100],
      [100, 100],
    ],
    { p99Ms: 0, slowForMs: 0 },
  ],
  [
    "slow writes count from the first sample that shows them",
    [
      [0, 0],
      [0, 50],
      [0, 99],
    ],
    { p99Ms: 1_000, slowForMs: sampleMs },
  ],
  [
    "a pause without writes changes nothing",
    [
      [0, 0],
      [0, 50],
      [0, 50],
    ],
    { p99Ms: 1_000, slowForMs: sampleMs },
  ],
  [
    "a disk that is well again",
    [
      [0, 0],
      [0, 50],
      [200, 50],
    ],
    { p99Ms: 0, slowForMs: 0 },
  ],
] as [string, [number, number][], object][])("DiskWatch: %s", (_, samples, expected) => {
  expect(healthAfter(...samples)).toEqual(expected);
});

test("a new process of the member counts from its start", () => {
  const watch = new DiskWatch();
  watch.note("c", disk, writes(0, 0), 0);
  watch.note("c", disk, writes(0, 50), sampleMs);
  watch.note("c", { ...disk, pod: "other" }, writes(0, 50), 2 * sampleMs);
  expect(watch.health("c", ["a"], 2 * sampleMs).get("a")).toEqual({ p99Ms: undefined, slowForMs: 0 });
  expect(watch.health("c", [], 2 * sampleMs).size).toBe(0);
});
