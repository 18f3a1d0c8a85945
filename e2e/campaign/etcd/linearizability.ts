/**
 * Decides whether what clients saw of one key is linearizable: whether all operations can be put into one
 * order that respects real time, in which each read returns the write before it. The algorithm is that of
 * Wing and Gong with Lowe's cache, as in Porcupine.
 */
import type { Operation } from "./operation.ts";

/** One end of an operation, in a doubly linked list that is ordered by time. */
interface Entry {
  readonly operation: Operation;
  readonly bit: bigint;
  /** The end of the same operation; only a start has it. */
  readonly end?: Entry;
  before?: Entry | undefined;
  after?: Entry | undefined;
}

interface Choice {
  readonly entry: Entry;
  readonly value: string | undefined;
  readonly done: bigint;
}

/** Whether the operations on one key are linearizable. `initial` is the key's value before all of them. */
export function isLinearizable(operations: readonly Operation[], initial?: string): boolean {
  const head = linked(relevant(operations));
  const seen = new Set<string>();
  const choices: Choice[] = [];
  let done = 0n;
  let value = initial;
  let entry = head.after;
  while (head.after !== undefined) {
    if (entry === undefined) return false;
    if (entry.end === undefined) {
      // This operation has ended and is not in the order yet: the last choice was wrong.
      const wrong = choices.pop();
      if (wrong === undefined) return false;
      ({ done, value } = wrong);
      putBack(wrong.entry);
      entry = wrong.entry.after;
      continue;
    }
    const { operation, bit } = entry;
    const next = operation.kind === "write" ? operation.value : value;
    const fits = operation.kind === "write" || operation.value === value;
    const state = `${done | bit} ${next ?? ""}`;
    if (!fits || seen.has(state)) {
      entry = entry.after;
      continue;
    }
    seen.add(state);
    choices.push({ entry, value, done });
    done |= bit;
    value = next;
    takeOut(entry);
    entry = head.after;
  }
  return true;
}

/**
 * Without the operations that say nothing: reads without an answer, and writes without an answer whose value
 * nobody read, because it is always legal that those never happened. A write without an answer that was read
 * must have happened.
 */
function relevant(operations: readonly Operation[]): readonly Operation[] {
  const read = new Set(
    operations.flatMap((each) => (each.kind === "read" && each.endMs !== undefined ? [each.value] : [])),
  );
  return operations.filter((each) => each.endMs !== undefined || (each.kind === "write" && read.has(each.value)));
}

function linked(operations: readonly Operation[]): Entry {
  const ends = operations.flatMap((operation, i) => {
    const end: Entry = { operation, bit: 1n << BigInt(i) };
    const start: Entry = { operation, bit: end.bit, end };
    return [
      { entry: start, ms: operation.startMs },
      { entry: end, ms: operation.endMs ?? Infinity },
    ];
  });
  // A start before an end at the same moment: the two operations may overlap.
  ends.sort((a, b) =>
    a.ms === b.ms ? Number(a.entry.end === undefined) - Number(b.entry.end === undefined) : a.ms - b.ms,
  );
  const head: Entry = { operation: { kind: "read", key: "", value: undefined, startMs: 0, endMs: 0 }, bit: 0n };
  let last = head;
  for (const { entry } of ends) {
    last.after = entry;
    entry.before = last;
    last = entry;
  }
  return head;
}

function takeOut(start: Entry): void {
  unlink(start);
  if (start.end !== undefined) unlink(start.end);
}

/** In the reverse order of `takeOut`, so that neighbours are where they were. */
function putBack(start: Entry): void {
  if (start.end !== undefined) link(start.end);
  link(start);
}

function unlink(entry: Entry): void {
  if (entry.before !== undefined) entry.before.after = entry.after;
  if (entry.after !== undefined) entry.after.before = entry.before;
}

function link(entry: Entry): void {
  if (entry.before !== undefined) entry.before.after = entry;
  if (entry.after !== undefined) entry.after.before = entry;
}
