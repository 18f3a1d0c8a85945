import { expect, test } from "vitest";
import { ListSplitter } from "./list-splitter.ts";

const items = [
  { metadata: { name: "a" }, text: 'braces } ] in "strings" and a \\ at the end \\' },
  { metadata: { name: "ä€😀" }, lists: [[], [{ deep: [1, 2, { x: null }] }], {}] },
  { metadata: { name: "last" }, items: [{ "}": "{" }], empty: "" },
];
const list = { kind: "BoxList", apiVersion: "v1", metadata: { resourceVersion: "7", continue: "more" }, items };

function split(text: string, size: number) {
  const bytes = Buffer.from(text);
  const splitter = new ListSplitter();
  const found: unknown[] = [];
  for (let at = 0; at < bytes.length; at += size)
    for (const item of splitter.push(bytes.subarray(at, at + size)))
      found.push(JSON.parse(Buffer.from(item).toString()));
  return { found, head: splitter.end() };
}

test.each([1, 2, 3, 7, 64, 10_000])("items come out whole however the bytes are cut (%i at a time)", (size) => {
  for (const text of [JSON.stringify(list), JSON.stringify(list, undefined, 2)]) {
    const { found, head } = split(text, size);
    expect(found).toEqual(items);
    expect(head.metadata).toEqual({ resourceVersion: "7", continue: "more" });
  }
});

test("a list whose metadata comes after its items is understood", () => {
  const { found, head } = split(JSON.stringify({ items, kind: "BoxList", metadata: { resourceVersion: "9" } }), 5);
  expect(found).toEqual(items);
  expect(head.metadata.resourceVersion).toBe("9");
});

test.each(["[]", "null", " [ ] "])("a list without objects (items: %s) is a list", (none) => {
  expect(split(`{"items":${none},"metadata":{"resourceVersion":"3"}}`, 4)).toMatchObject({
    found: [],
    head: { metadata: { resourceVersion: "3" } },
  });
});

test("half a list is never taken for a whole one", () => {
  const text = JSON.stringify(list);
  expect(() => split(text.slice(0, -40), 16)).toThrow("Cannot read a list");
});
