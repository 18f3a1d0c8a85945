import { expect, test } from "vitest";
import { type Endpoint, endpointsPerSliceMax, planSlices, type PlannedSlice, presentSlice } from "./slice-plan.ts";

const ports = [{ name: "", port: 80, protocol: "TCP" }] as const;
const otherPorts = [{ name: "", port: 81, protocol: "TCP" }] as const;
const endpoint = (n: number, ready = true): Endpoint => ({
  addresses: [`10.0.${Math.floor(n / 250)}.${n % 250}`],
  conditions: { ready },
  targetRef: { kind: "Pod", uid: `pod-${n}` },
});
const endpoints = (from: number, to: number): readonly Endpoint[] =>
  Array.from({ length: to - from }, (_, i) => endpoint(from + i));
const nameOf = (number: number): string => (number === 1 ? "web" : `web-${number}`);
const plan = (present: readonly PlannedSlice[], all: readonly Endpoint[]): readonly PlannedSlice[] =>
  planSlices(present, [{ ports, endpoints: all }], nameOf);
const sizes = (slices: readonly PlannedSlice[]): Record<string, number> =>
  Object.fromEntries(slices.map(({ name, endpoints: held }) => [name, held.length]));
/** Slices that have to be written. */
const written = (before: readonly PlannedSlice[], after: readonly PlannedSlice[]): readonly string[] =>
  after
    .filter((slice) => JSON.stringify(slice) !== JSON.stringify(before.find(({ name }) => name === slice.name)))
    .map(({ name }) => name);

test("2,000 endpoints are in 20 slices, each in one of them", () => {
  const slices = plan([], endpoints(0, 2_000));
  expect(slices).toHaveLength(20);
  expect(slices.every((slice) => slice.endpoints.length === endpointsPerSliceMax)).toBe(true);
  expect(new Set(slices.flatMap((slice) => slice.endpoints.map(({ targetRef }) => targetRef?.uid))).size).toBe(2_000);
  expect(new Set(slices.map(({ name }) => name)).size).toBe(20);
});

test("a plan that is made again changes nothing, whatever the order of the pods", () => {
  const slices = plan([], endpoints(0, 250));
  expect(plan(slices, endpoints(0, 250).toReversed())).toEqual(slices);
});

test("a change of one pod writes one slice of twenty", () => {
  const all = endpoints(0, 2_000);
  const before = plan([], all);
  const unready = all.with(1_234, endpoint(1_234, false));
  expect(written(before, plan(before, unready))).toHaveLength(1);
  const without = all.toSpliced(1_234, 1);
  expect(written(before, plan(before, without))).toHaveLength(1);
});

test("a rollout that replaces a pod of a full slice writes that slice alone", () => {
  const before = plan([], endpoints(0, 300));
  const after = plan(before, [...endpoints(0, 150), ...endpoints(151, 301)]);
  expect(written(before, after)).toEqual(["web-2"]);
  expect(sizes(after)).toEqual({ web: 100, "web-2": 100, "web-3": 100 });
});

test("new endpoints go to the fullest slice that has room for all of them", () => {
  const slice = (name: string, from: number, to: number): PlannedSlice => ({
    name,
    ports,
    endpoints: endpoints(from, to),
  });
  const before = [slice("a", 0, 20), slice("b", 20, 80), slice("c", 80, 175)];
  const after = plan(before, endpoints(0, 185));
  expect(written(before, after)).toEqual(["b"]);
  expect(sizes(after)).toEqual({ a: 20, b: 70, c: 95 });
});

test("slices that become empty are not needed any more, and the last one stays", () => {
  const before = plan([], endpoints(0, 250));
  expect(sizes(plan(before, endpoints(120, 150)))).toEqual({ "web-2": 30 });
  expect(sizes(plan(before, []))).toEqual({ web: 0 });
});

test("a slice of an earlier version with all endpoints is divided, and keeps the first hundred", () => {
  const before = [{ name: "web", ports, endpoints: endpoints(0, 250) }];
  expect(sizes(plan(before, endpoints(0, 250)))).toEqual({ web: 100, "web-2": 100, "web-3": 50 });
});

test("endpoints with other port numbers have slices of their own, which take over names that are free", () => {
  const before = plan([], endpoints(0, 10));
  const split = planSlices(
    before,
    [
      { ports, endpoints: endpoints(0, 5) },
      { ports: otherPorts, endpoints: endpoints(5, 10) },
    ],
    nameOf,
  );
  expect(sizes(split)).toEqual({ web: 5, "web-2": 5 });
  const moved = planSlices(before, [{ ports: otherPorts, endpoints: endpoints(0, 10) }], nameOf);
  expect(moved).toEqual([{ name: "web", ports: otherPorts, endpoints: endpoints(0, 10) }]);
});

test("a slice whose endpoints are null is an empty one", () => {
  const slice = { metadata: { name: "web" }, endpoints: null, ports: null } as unknown as Parameters<
    typeof presentSlice
  >[0];
  expect(presentSlice(slice)).toEqual({ name: "web", ports: [], endpoints: [] });
});
