import { expect, test } from "vitest";
import { StartGate } from "./start-gate.ts";

/** Work that ends on demand, and the names of what began. */
function works(): { begun: string[]; work: (name: string) => () => Promise<string>; end: (name: string) => void } {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (name: string) => (): Promise<string> => {
    begun.push(name);
    return new Promise((resolve) => ends.set(name, () => resolve(name)));
  };
  return { begun, work, end: (name) => ends.get(name)?.() };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("StartGate.enter() begins no more pods than its limit, the longest wait first", async () => {
  const gate = new StartGate(2);
  const { begun, work, end } = works();
  const all = ["a", "b", "c", "d"].map((name) => gate.enter(work(name)));
  await turn();
  expect(begun).toEqual(["a", "b"]);
  end("b");
  await turn();
  expect(begun).toEqual(["a", "b", "c"]);
  for (const name of ["a", "c"]) end(name);
  await turn();
  end("d");
  expect(await Promise.all(all)).toEqual(["a", "b", "c", "d"]);
});

test("StartGate.goOn() never waits, and holds back pods that have not begun", async () => {
  const gate = new StartGate(1);
  const { begun, work, end } = works();
  const first = gate.enter(work("sandbox"));
  const second = gate.goOn(work("container"));
  const third = gate.enter(work("next"));
  await turn();
  expect(begun).toEqual(["sandbox", "container"]);
  end("sandbox");
  await turn();
  expect(begun).toEqual(["sandbox", "container"]);
  end("container");
  await turn();
  end("next");
  expect(await Promise.all([first, second, third])).toEqual(["sandbox", "container", "next"]);
});

test("StartGate goes on after work that fails", async () => {
  const gate = new StartGate(1);
  const failed = gate.enter(() => Promise.reject(new Error("no space")));
  const next = gate.enter(() => Promise.resolve("next"));
  await expect(failed).rejects.toThrow("no space");
  expect(await next).toBe("next");
});
