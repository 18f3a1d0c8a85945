import fc from "fast-check";
import { expect, test } from "vitest";
import { findAnomalies } from "./list-append.ts";
import type { ListOperation, Transaction } from "./transaction.ts";

/** `x=1` appends 1 to x, `x:1,2` reads both from it. Transactions overlap unless their times are given. */
function transaction(text: string, changed: Partial<Transaction> = {}): Transaction {
  const operations = text.split(" ").map((each): ListOperation => {
    const [key = "", separator, rest = ""] = each.split(/([=:])/);
    if (separator === "=") return { kind: "append", key, value: Number(rest) };
    return { kind: "read", key, values: rest === "" ? [] : rest.split(",").map(Number) };
  });
  return { operations, outcome: "Committed", startMs: 0, endMs: 100, ...changed };
}

const aborted = (text: string): Transaction => transaction(text, { outcome: "Aborted" });
const unknown = (text: string): Transaction => transaction(text, { outcome: "Unknown" });
const at = (startMs: number, endMs: number, text: string): Transaction => transaction(text, { startMs, endMs });
const kindsOf = (history: readonly Transaction[]): readonly string[] => findAnomalies(history).map(({ kind }) => kind);

test.each<readonly [string, readonly Transaction[]]>([
  ["nothing", []],
  ["a list that is not there", [transaction("x:")]],
  ["one after the other", [at(0, 1, "x=1"), at(2, 3, "x:1 x=2"), at(4, 5, "x:1,2")]],
  ["its own appends", [transaction("x=1 x:1 x=2 x:1,2"), at(200, 201, "x:1,2")]],
  ["a read beside an append, of before", [at(0, 9, "x=1"), at(1, 8, "x:")]],
  ["an append without an answer that happened", [unknown("x=1"), at(200, 201, "x:1")]],
  ["an append without an answer that never happened", [unknown("x=1"), at(200, 201, "x:")]],
  ["an append that aborted", [aborted("x=1"), transaction("x:")]],
  ["reads of two lists in one order", [transaction("x=1 y=2"), transaction("x:1 y:2"), transaction("x: y:")]],
  ["what nobody has read", [transaction("x=1"), transaction("y=2")]],
])("serializable: %s", (_, history) => {
  expect(findAnomalies(history)).toEqual([]);
});

test.each<readonly [string, string, readonly Transaction[]]>([
  ["G0", "two orders of appends", [transaction("x=1 y=2"), transaction("x=3 y=4"), transaction("x:1,3 y:4,2")]],
  ["G1a", "what was rolled back", [aborted("x=1"), transaction("x:1")]],
  ["G1b", "half of a transaction", [transaction("x=1 x=2"), transaction("x:1"), transaction("x:1,2")]],
  ["G1c", "each read of the other", [transaction("x=1 y:2"), transaction("y=2 x:1")]],
  ["G-single", "read skew", [transaction("x=1 y=2"), transaction("x: y:2"), transaction("x:1")]],
  ["G-single", "a lost update", [transaction("x: x=1"), transaction("x: x=2"), transaction("x:1,2")]],
  ["G2", "write skew", [transaction("x: y=1"), transaction("y: x=2"), transaction("x:2 y:1")]],
  [
    "G2",
    "a read-only transaction that saw only the later of two",
    [transaction("x:1"), transaction("x=1 y:"), transaction("y=2 z=3"), transaction("z:3 x:"), transaction("x:1 y:2")],
  ],
  ["lost append", "an acknowledged append", [at(0, 1, "x=1"), at(2, 3, "x:")]],
  ["lost append", "a read append", [at(0, 1, "x=1"), at(2, 3, "x:1"), at(4, 5, "x:")]],
  ["stale read", "a moment of the past", [at(0, 1, "x=1"), at(2, 3, "x:"), at(4, 5, "x:1")]],
  [
    "incompatible order",
    "two histories",
    [transaction("x=1"), transaction("x=2"), ...["x:1", "x:2"].map((each) => transaction(each))],
  ],
  ["internal", "two reads that differ", [transaction("x=1"), transaction("x: x:1")]],
  ["internal", "a read without its own append", [transaction("x=1 x:")]],
  ["appended twice", "a retried append", [transaction("x=1"), transaction("x:1,1")]],
  ["unknown value", "a value from nowhere", [transaction("x:7")]],
  ["unknown value", "a value of another list", [transaction("y=7"), transaction("x:7")]],
])("%s: %s", (kind, _, history) => {
  expect(kindsOf(history)).toContain(kind);
});

test("an anomaly names the transactions and what they did", () => {
  expect(findAnomalies([transaction("x: y=1"), transaction("y: x=2"), transaction("x:2 y:1")])).toEqual([
    { kind: "G2", message: "0 rw(x) 1, 1 rw(y) 0" },
  ]);
  expect(findAnomalies([at(0, 1, "x=1"), at(2, 3, "x:")])).toEqual([
    {
      kind: "lost append",
      message: "transaction 0 appended 1 to x, and transaction 1, which began later, read x=[]",
      value: 1,
    },
  ]);
});

test("a history that appends a value twice cannot be checked", () => {
  expect(() => findAnomalies([transaction("x=1"), transaction("y=1")])).toThrow("appends 1 twice");
});

const keys = ["x", "y", "z"] as const;
const choices = fc.array(
  fc.record({
    steps: fc.array(fc.record({ key: fc.constantFrom(...keys), isAppend: fc.boolean() }), {
      minLength: 1,
      maxLength: 5,
    }),
    overlap: fc.nat(20),
    fate: fc.integer({ min: 0, max: 9 }),
  }),
  { minLength: 1, maxLength: 40 },
);

/** What a database shows that does one transaction after the other, to clients that wait for its answers. */
const serialHistory = choices.map((raw) => {
  let value = 0;
  let lists: Readonly<Record<string, readonly number[]>> = {};
  return raw.map(({ steps, overlap, fate }, i): Transaction => {
    let own = lists;
    const operations = steps.map(({ key, isAppend }): ListOperation => {
      const values = own[key] ?? [];
      if (!isAppend) return { kind: "read", key, values };
      own = { ...own, [key]: [...values, ++value] };
      return { kind: "append", key, value };
    });
    if (fate !== 0) lists = own;
    const outcome = fate === 0 ? "Aborted" : fate === 1 ? "Unknown" : "Committed";
    return { operations, outcome, startMs: 10 * i - overlap, endMs: 10 * i + overlap };
  });
});

test("what a serial database shows is serializable, whatever overlaps", () => {
  fc.assert(fc.property(serialHistory, (history) => findAnomalies(history).length === 0));
});

test("a last read that lacks an acknowledged append is found, whatever went before", () => {
  fc.assert(
    fc.property(serialHistory, fc.constantFrom(...keys), (history, key) => {
      const late = [at(1_000, 1_001, `${key}=5000`), at(1_002, 1_003, `${key}:`)];
      return kindsOf([...history, ...late]).includes("lost append");
    }),
  );
});

test("write skew is found, whatever went before and after", () => {
  fc.assert(
    fc.property(serialHistory, serialHistory, (history, later) => {
      const skew = [transaction("a: b=6001"), transaction("b: a=6002"), transaction("a:6002 b:6001")];
      const after = later.map((each) => ({ ...each, operations: each.operations.map(beside) }));
      return kindsOf([...history, ...skew, ...after]).includes("G2");
    }),
  );
});

/** The same on lists and with values of its own. */
function beside(operation: ListOperation): ListOperation {
  const key = `later ${operation.key}`;
  if (operation.kind === "append") return { ...operation, key, value: operation.value + 10_000 };
  return { ...operation, key, values: operation.values.map((each) => each + 10_000) };
}
