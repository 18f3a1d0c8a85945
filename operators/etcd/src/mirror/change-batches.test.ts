import { expect, test } from "vitest";
import { bytesMax, ChangeBatch, changesMax } from "./change-batches.ts";

const changes = (count: number): { key: string; value: string }[] =>
  Array.from({ length: count }, (_, index) => ({ key: `key-${index}`, value: "AAAA" }));

test("a batch has each key once, with its last change", () => {
  const batch = new ChangeBatch();
  batch.add({ key: "a", value: "AAAA" });
  batch.add({ key: "b", value: "AAAA" });
  batch.add({ key: "a" });
  expect(batch.take()).toEqual({ changes: [{ key: "a" }, { key: "b", value: "AAAA" }], hasRoom: true });
  expect(batch.isEmpty).toBe(true);
});

test("a batch is full before it has more operations than a transaction may have", () => {
  const batch = new ChangeBatch();
  expect(batch.isFullFor(changes(500))).toBe(false);
  for (const each of changes(changesMax - 1)) batch.add(each);
  expect(batch.isFullFor(changes(1))).toBe(false);
  expect(batch.isFullFor(changes(2))).toBe(true);
});

test("one value that fills a transaction goes alone, without the record", () => {
  const batch = new ChangeBatch();
  batch.add({ key: "small", value: "AAAA" });
  const large = { key: "large", value: "A".repeat((bytesMax * 4) / 3 + 4) };
  expect(batch.isFullFor([large])).toBe(true);
  batch.take();
  batch.add(large);
  expect(batch.take().hasRoom).toBe(false);
});
