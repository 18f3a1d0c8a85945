import { expect, test } from "vitest";
import { ReconcileMemory, rememberedWritesMax } from "./write-memory.ts";

function knows(memory: ReconcileMemory, uid: string, what: string, wanted: string, present: string): boolean {
  const asked = (text: string) => (): string => text;
  return memory.isKnownNoop(uid, what, asked(wanted), asked(present));
}

test("a write is known to change nothing when the same was asked for and ended in what is there", () => {
  const memory = new ReconcileMemory();
  memory.remember("u1", "configmaps/a/b", "mark", "content");
  expect(knows(memory, "u1", "configmaps/a/b", "mark", "content")).toBe(true);
  expect(knows(memory, "u1", "configmaps/a/b", "mark", "other")).toBe(false);
  expect(knows(memory, "u1", "configmaps/a/b", "other", "content")).toBe(false);
  expect(knows(memory, "u2", "configmaps/a/b", "mark", "content")).toBe(false);
});

test("a child that was deleted is not remembered, but that there were children of its kind is", () => {
  const memory = new ReconcileMemory();
  memory.remember("u1", "configmaps/a/b", "mark", "content");
  memory.drop("u1", "configmaps/a/b");
  expect(memory.countOf("u1")).toBe(0);
  expect(knows(memory, "u1", "configmaps/a/b", "mark", "content")).toBe(false);
  expect([...memory.kindsOf("u1")]).toEqual(["configmaps"]);
});

test("children that come and go under new names do not pile up while their parent lives", () => {
  const memory = new ReconcileMemory();
  for (let i = 0; i < rememberedWritesMax + 100; i++) memory.remember("u1", `configmaps/a/b${i}`, "mark", "content");
  expect(memory.countOf("u1")).toBe(rememberedWritesMax);
  expect(knows(memory, "u1", "configmaps/a/b0", "mark", "content")).toBe(false);
  expect(knows(memory, "u1", `configmaps/a/b${rememberedWritesMax}`, "mark", "content")).toBe(true);
});

test("what was written by the first run is no news to a question that was asked before it", () => {
  const memory = new ReconcileMemory();
  const before = memory.kindsOf("u1");
  memory.rememberKind("u1", "configmaps");
  expect([before.size, memory.kindsOf("u1").size]).toEqual([0, 1]);
});
