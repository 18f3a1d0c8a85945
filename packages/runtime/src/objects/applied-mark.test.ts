import type { KubeObject } from "@setpoint/apimachinery";
import { expect, test } from "vitest";
import { appliedAnnotation, isAppliedBy, withAppliedMark } from "./applied-mark.ts";

const box = (metadata: object = {}, size = 1): KubeObject & { readonly size: number } => ({
  apiVersion: "example.com/v1",
  kind: "Box",
  metadata: { name: "a", namespace: "default", ...metadata },
  size,
});
const markOf = (object: KubeObject): string | undefined =>
  withAppliedMark(object, "boxes").metadata.annotations?.[appliedAnnotation];

test("the mark names the manager and follows from the content alone", () => {
  expect(markOf(box())).toMatch(/^boxes\/[0-9a-z]+$/);
  expect(markOf(box())).toBe(markOf(box()));
  expect(markOf(box({}, 2))).not.toBe(markOf(box()));
  expect(markOf(box({ labels: { a: "b" } }))).not.toBe(markOf(box()));
});

test("a mark is added to the annotations that are there, in a copy", () => {
  const object = box({ annotations: { "example.com/colour": "red" } });
  const marked = withAppliedMark(object, "boxes");
  expect(marked.metadata.annotations).toEqual({
    "example.com/colour": "red",
    [appliedAnnotation]: expect.stringContaining("boxes/"),
  });
  expect(object).toEqual(box({ annotations: { "example.com/colour": "red" } }));
  expect({ ...marked, metadata: { ...marked.metadata, annotations: undefined } }).toEqual({
    ...box(),
    metadata: { ...box().metadata, annotations: undefined },
  });
});

test("a changed copy of an object that was read has the same mark after each write", () => {
  const read = (resourceVersion: string, more: object = {}): KubeObject =>
    box({
      resourceVersion,
      uid: "u",
      generation: Number(resourceVersion),
      creationTimestamp: resourceVersion,
      ...more,
    });
  const first = markOf(read("1"));
  expect(markOf(read("2"))).toBe(first);
  expect(markOf(read("2", { annotations: { [appliedAnnotation]: String(first) } }))).toBe(first);
  expect(markOf(read("2", { annotations: { "example.com/colour": "red" } }))).not.toBe(first);
  expect(markOf(read("2", { labels: { a: "b" } }))).not.toBe(first);
});

test("a field manager's applies are not confused with those of a manager with a longer name", () => {
  const marked = withAppliedMark(box(), "a/b");
  expect([isAppliedBy(marked, "a/b"), isAppliedBy(marked, "a"), isAppliedBy(marked, "b")]).toEqual([
    true,
    false,
    false,
  ]);
  expect([isAppliedBy(box(), "a"), isAppliedBy(box(), "")]).toEqual([false, false]);
});
