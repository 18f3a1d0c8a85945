import { expect, test } from "vitest";
import { diskHealth, diskSampleMs, isDiskSampleDue, noDiskSamples, noteDiskSample, type WriteBucket } from "./disks.ts";

const disk = { member: "a", pod: "pod-a", boundMs: 500 };
/** `fast` writes within 1 ms, and `slow` ones within 2 s. */
const writes = (fast: number, slow: number): readonly WriteBucket[] => [
  { withinSeconds: 0.001, count: fast },
  { withinSeconds: 1, count: fast },
  { withinSeconds: 2, count: fast + slow },
  { withinSeconds: Infinity, count: fast + slow },
];

function healthAfter(...samples: readonly (readonly [number, number])[]): unknown {
  const all = samples.reduce(
    (before, [fast, slow], at) => noteDiskSample(before, disk, writes(fast, slow), at * diskSampleMs),
    noDiskSamples,
  );
  return diskHealth(all, (samples.length - 1) * diskSampleMs).get("a");
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
    { p99Ms: 1_000, slowForMs: diskSampleMs },
  ],
  [
    "a pause without writes changes nothing",
    [
      [0, 0],
      [0, 50],
      [0, 50],
    ],
    { p99Ms: 1_000, slowForMs: diskSampleMs },
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
] as [string, [number, number][], object][])("disks: %s", (_, samples, expected) => {
  expect(healthAfter(...samples)).toEqual(expected);
});

test("a new process of the member counts from its start", () => {
  const before = [writes(0, 0), writes(0, 50)].reduce(
    (samples, each, at) => noteDiskSample(samples, disk, each, at * diskSampleMs),
    noDiskSamples,
  );
  const atMs = 2 * diskSampleMs;
  expect(isDiskSampleDue(before, "a", "pod-a", diskSampleMs + 1)).toBe(false);
  expect(isDiskSampleDue(before, "a", "other", diskSampleMs + 1)).toBe(true);
  const after = noteDiskSample(before, { ...disk, pod: "other" }, writes(0, 50), atMs);
  expect(diskHealth(after, atMs).get("a")).toEqual({ p99Ms: undefined, slowForMs: 0 });
});
