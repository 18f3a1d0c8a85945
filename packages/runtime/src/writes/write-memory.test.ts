import { expect, test } from "vitest";
import { rememberedWritesMax, WriteMemory } from "./write-memory.ts";

function knows(memory: WriteMemory, what: string, wanted: string, present: string): boolean {
  const asked = (text: string) => (): string => text;
  return memory.isKnownNoop(what, asked(wanted), asked(present));
}

test("a write is known to change nothing when the same was asked for and ended in what is there", () => {
  const memory = new WriteMemory();
  memory.remember("configmaps/a/b", "mark", "content");
  expect(knows(memory, "configmaps/a/b", "mark", "content")).toBe(true);
  expect(knows(memory, "configmaps/a/b", "mark", "other")).toBe(false);
  expect(knows(memory, "configmaps/a/b", "other", "content")).toBe(false);
  expect(knows(memory, "configmaps/a/c", "mark", "content")).toBe(false);
});

test("a child that was deleted is not remembered, but that there were children of its kind is", () => {
  const memory = new WriteMemory();
  memory.remember("configmaps/a/b", "mark", "content");
  memory.drop("configmaps/a/b");
  expect(memory.size).toBe(0);
  expect(knows(memory, "configmaps/a/b", "mark", "content")).toBe(false);
  expect([...memory.kinds()]).toEqual(["configmaps"]);
});

test("children that come and go under new names do not pile up while their parent lives", () => {
  const memory = new WriteMemory();
  for (let i = 0; i < rememberedWritesMax + 100; i++) memory.remember(`configmaps/a/b${i}`, "mark", "content");
  expect(memory.size).toBe(rememberedWritesMax);
  expect(knows(memory, "configmaps/a/b0", "mark", "content")).toBe(false);
  expect(knows(memory, `configmaps/a/b${rememberedWritesMax}`, "mark", "content")).toBe(true);
});

test("what was written by the first run is no news to a question that was asked before it", () => {
  const memory = new WriteMemory();
  const before = memory.kinds();
  memory.rememberKind("configmaps");
  expect([before.size, memory.kinds().size]).toEqual([0, 1]);
});
