import type { Stored } from "setpoint";
import { expect, test } from "vitest";
import { EtcdMirror } from "./etcd-mirror.ts";
import { type MirrorState, opposites } from "./opposite-mirrors.ts";

/** `a/x/>b/y/`: keys of cluster a with the prefix x/ are copied to cluster b, with the prefix y/. */
function mirrors(...sketches: readonly string[]): readonly Stored<EtcdMirror>[] {
  return sketches.map((sketch, index) => {
    const [source = "", destination = ""] = sketch.split(">");
    const [from, prefix] = [source.slice(0, 1), source.slice(1)];
    const [to, destinationPrefix] = [destination.slice(0, 1), destination.slice(1)];
    const { spec, ...rest } = EtcdMirror({
      name: `m${index}`,
      spec: { source: { cluster: from }, cluster: to, prefix, destinationPrefix },
    });
    const metadata = {
      ...rest.metadata,
      uid: `u${index}`,
      creationTimestamp: `2026-01-01T00:00:${String(index).padStart(2, "0")}Z`,
    };
    return { ...rest, spec, metadata } as Stored<EtcdMirror>;
  });
}

test.each<readonly [string, readonly string[], readonly (string | undefined)[]]>([
  ["one mirror", ["a/x/>b/x/"], [undefined]],
  ["the second of two in opposite directions", ["a/x/>b/x/", "b/x/>a/x/"], [undefined, "m0"]],
  ["the same with all keys", ["a>b", "b>a"], [undefined, "m0"]],
  ["the same with prefixes that overlap in part", ["a/x/>b/y/", "b/y/z/>a/"], [undefined, "m0"]],
  ["two in one direction", ["a/x/>b/x/", "a/x/>b/y/"], [undefined, undefined]],
  ["opposite directions with other prefixes", ["a/x/>b/x/", "b/y/>a/y/"], [undefined, undefined]],
  ["a copy of a copy under another prefix", ["a/x/>b/x/", "b/x/>a/y/"], [undefined, undefined]],
  ["the last of three in a circle", ["a>b", "b>c", "c>a"], [undefined, undefined, "m0,m1"]],
  ["a chain", ["a>b", "b>c", "c>d"], [undefined, undefined, undefined]],
  ["both that come back over the first", ["a>b", "b/x/>a/x/", "b/y/>a/y/"], [undefined, "m0", "m0"]],
  ["not one that a refused mirror would need", ["a/x/>b/x/", "b/x/>a/x/", "a/x/>b/x/"], [undefined, "m0", undefined]],
])("opposites() refuses %s", (_, sketches, expected) => {
  const all = mirrors(...sketches);
  const found = all.map((each) => opposites(each, all.toReversed())?.join());
  expect(found).toEqual(expected);
});

test.each<readonly [string, readonly MirrorState[], readonly (string | undefined)[]]>([
  ["the last one", ["able", "able", "able"], [undefined, undefined, "m0,m1"]],
  ["none while one of the circle lacks something", ["unable", "able", "able"], [undefined, undefined, undefined]],
  ["none that has begun, but the last of the others", ["able", "able", "begun"], [undefined, "m2,m0", undefined]],
  ["the last of those that have all begun", ["begun", "begun", "begun"], [undefined, undefined, "m0,m1"]],
])("of three mirrors in a circle opposites() refuses %s", (_, states, expected) => {
  const all = mirrors("a>b", "b>c", "c>a");
  const stateOf = (mirror: (typeof all)[number]): MirrorState => states[all.indexOf(mirror)] ?? "able";
  expect(all.map((each) => opposites(each, all, stateOf)?.join())).toEqual(expected);
});

test("opposites() visits each mirror once, however many ways there are", () => {
  // Five mirrors between each two of twelve clusters: about 5^11 ways.
  const clusters = "lkjihgfedcba".split("");
  const layers = clusters.slice(1).flatMap((from, index) => Array<string>(5).fill(`${from}>${clusters[index]}`));
  const all = mirrors(...layers);
  expect(all.map((each) => opposites(each, all))).toEqual(all.map(() => undefined));
});
