import { expect, test } from "vitest";
import type { UnstructuredObject } from "./object.ts";
import { formatShardSelector, matchesShard, parseShardSelector, shardRangeOf } from "./shard-selector.ts";

// Recorded from kube-apiserver 1.36.3 with the feature gate ShardedListAndWatch.
test.each<readonly [string, string | { readonly error: string }]>([
  [
    "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')",
    "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')",
  ],
  [
    "shardRange(object.metadata.uid, '0x0000000000000000', '0x4000000000000000') || shardRange(object.metadata.uid, '0x4000000000000000', '0x8000000000000000') || shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')",
    "shardRange(object.metadata.uid, '0x0000000000000000', '0x4000000000000000') || shardRange(object.metadata.uid, '0x4000000000000000', '0x8000000000000000') || shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')",
  ],
  [
    "(shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000'))",
    "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')",
  ],
  [
    'shardRange(object.metadata.uid, "0x0000000000000000", "0x8000000000000000")',
    "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')",
  ],
  [
    "shardRange(metadata.uid, '0x0000000000000000', '0x8000000000000000')",
    { error: 'unsupported field path "metadata.uid"; supported: object.metadata.uid, object.metadata.namespace' },
  ],
  [
    "shardRange(object, '0x0000000000000000', '0x8000000000000000')",
    { error: 'unsupported field path "object"; supported: object.metadata.uid, object.metadata.namespace' },
  ],
  [
    "shardRange(object.metadata.uid, '0x0000000000000000', '0x10000000000000001')",
    { error: "hexEnd: 17-digit hex value must be '0x10000000000000000' (2^64), got \"0x10000000000000001\"" },
  ],
  [
    "shardRange(object.metadata.uid, '0x0000000000000000', '0x20000000000000000')",
    { error: "hexEnd: 17-digit hex value must be '0x10000000000000000' (2^64), got \"0x20000000000000000\"" },
  ],
  [
    "shardRange(object.metadata.uid, '0x10000000000000000', '0x10000000000000000')",
    { error: "shard range start 0x10000000000000000 must be less than end 0x10000000000000000" },
  ],
  [
    "shardRange(object.metadata.uid, '0x0000000000000000', '0x80000000000000000')",
    { error: "hexEnd: 17-digit hex value must be '0x10000000000000000' (2^64), got \"0x80000000000000000\"" },
  ],
  [
    "shardRange(object.metadata.uid, '0x0000000000000000', '0x800000000000000g')",
    { error: 'hexEnd: invalid hex character "g" in "0x800000000000000g"' },
  ],
  ["shardRange(object.metadata.uid, '0x0000000000000000', '')", { error: "hexEnd must have '0x' prefix, got \"\"" }],
  ["shardRange(object.metadata.uid, '0x0000000000000000', '8')", { error: "hexEnd must have '0x' prefix, got \"8\"" }],
  [
    "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000') || shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')",
    "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000') || shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')",
  ],
  [
    "shardRange(object.metadata.name, '0x0', '0x8000000000000000')",
    {
      error: 'unsupported field path "object.metadata.name"; supported: object.metadata.uid, object.metadata.namespace',
    },
  ],
  [
    "shardRange(object.metadata.uid, '0x0', '0x8000000000000000')",
    { error: 'hexStart must be a 0x-prefixed 16-digit hex value, got "0x0" (did you mean "0x0000000000000000"?)' },
  ],
  [
    "shardRange(object.metadata.uid, '0x8000000000000000', '0x0000000000000000')",
    { error: "shard range start 0x8000000000000000 must be less than end 0x0000000000000000" },
  ],
  [
    "shardRange(object.metadata.uid, '0x0000000000000000', '0xABCDEF0000000000')",
    { error: 'hexEnd: invalid hex character "A" in "0xABCDEF0000000000"' },
  ],
  [
    "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000') || shardRange(object.metadata.namespace, '0x8000000000000000', '0x10000000000000000')",
    { error: 'all shard ranges must use the same field, got "object.metadata.uid" and "object.metadata.namespace"' },
  ],
])("a shard selector is read as by a real server: %s", (text, expected) => {
  if (typeof expected === "string") expect(formatShardSelector(parseShardSelector(text))).toBe(expected);
  else expect(() => parseShardSelector(text)).toThrow(expected.error);
});

test.each([
  "",
  "true",
  "shardRange(object.metadata.uid)",
  "shardRange(",
  "a && b",
  "shardRange(object.metadata.uid, 1, 2)",
])("what is no shard selector is refused: %s", (text) =>
  expect(() => parseShardSelector(text)).toThrow("expected shardRange() call or || operator"),
);

function object(uid: string, namespace: string): UnstructuredObject {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", uid, namespace } };
}

/** The hashes were found by halving ranges on the real server until one object was left. */
test.each([
  ["uid", "c4bcfef9957f2023", "c4bcfef9957f2024"],
  ["namespace", "ebada5168620c5fe", "ebada5168620c5ff"],
] as const)("the hash of a %s is that of a real server, to the last bit", (field, start, end) => {
  const one = object("851f3035-be23-455c-aba6-66033b4abb81", "default");
  const at = (from: string, to: string) =>
    parseShardSelector(`shardRange(object.metadata.${field}, '${from}', '${to}')`);
  expect(matchesShard(at(`0x${start}`, `0x${end}`), one)).toBe(true);
  expect(matchesShard(at("0x0000000000000000", `0x${start}`), one)).toBe(false);
  expect(matchesShard(at(`0x${end}`, "0x10000000000000000"), one)).toBe(false);
});

/** As random as identities are. */
function uidOf(n: number): string {
  const part = (at: number): string => (Math.imul(n + at, 0x9e3779b1) >>> 0).toString(16).padStart(8, "0");
  return `${part(0)}-9a55-4ab5-${part(1).slice(4)}-${part(2)}ffff`;
}

test.each([1, 2, 3, 7])("each object is in exactly one of %i equal shards", (count) => {
  const shards = Array.from({ length: count }, (_, index) => ({
    field: "uid" as const,
    ranges: [shardRangeOf(index, count)],
  }));
  const held = shards.map(() => 0);
  for (let n = 0; n < 2_000; n++) {
    const inIt = shards.map((shard) => matchesShard(shard, object(uidOf(n), "")));
    expect(inIt.filter(Boolean)).toHaveLength(1);
    const index = inIt.indexOf(true);
    held[index] = (held[index] ?? 0) + 1;
  }
  for (const each of held) expect(each).toBeGreaterThan(2_000 / count / 2);
});
