/**
 * Decides whether what clients saw of lists is serializable, in the manner of Elle: a list shows the order of
 * the appends to it, so reads give the dependencies between transactions, and a cycle of them has no serial
 * order. Beyond that, a transaction that begins after an append was acknowledged must see it.
 */
import { type CycleKind, type Dependency, findCycles } from "./dependency-cycles.ts";
import type { Transaction } from "./transaction.ts";

export type AnomalyKind =
  | CycleKind
  /** A read of what an aborted transaction appended. */
  | "G1a"
  /** A read of what another transaction had appended half way. */
  | "G1b"
  /** An acknowledged append that is not in the last read of its list. */
  | "lost append"
  /** A read without an append that was acknowledged before, and that a later read has. */
  | "stale read"
  /** Two reads of a list, neither of which begins with the other. */
  | "incompatible order"
  /** A transaction that contradicts what it read and appended itself. */
  | "internal"
  | "appended twice"
  | "unknown value";

export interface Anomaly {
  readonly kind: AnomalyKind;
  /** With the numbers of transactions in the history. */
  readonly message: string;
  /** The value that was appended, of anomalies of one value. */
  readonly value?: number;
}

interface Append {
  readonly by: number;
  readonly key: string;
  /** No later append of the same transaction to the same list. */
  readonly isLast: boolean;
}

interface Read {
  readonly by: number;
  readonly key: string;
  readonly values: readonly number[];
}

/** Everything that is wrong with the history; of cycles, one example of each kind. */
export function findAnomalies(history: readonly Transaction[]): readonly Anomaly[] {
  const appends = appendsOf(history);
  const reads = readsOf(history);
  const lists = [...Map.groupBy(reads, ({ key }) => key).values()];
  const appendsTo = Map.groupBy(appends, ([, { key }]) => key);
  return [
    ...history.flatMap((transaction, by) => (transaction.outcome === "Committed" ? internal(transaction, by) : [])),
    ...reads.flatMap((read) => wrongValues(read, appends, history)),
    ...lists.flatMap(incompatible),
    ...lists.flatMap((list) => missing(list, appendsTo.get(list[0]?.key ?? "") ?? [], history)),
    ...cycles(lists, appends),
  ];
}

function appendsOf(history: readonly Transaction[]): ReadonlyMap<number, Append> {
  const appends = new Map<number, Append>();
  history.forEach(({ operations }, by) => {
    for (const [i, operation] of operations.entries()) {
      if (operation.kind !== "append") continue;
      const { key, value } = operation;
      if (appends.has(value)) throw new Error(`Cannot check a history that appends ${value} twice`);
      const isLast = !operations.slice(i + 1).some((later) => later.kind === "append" && later.key === key);
      appends.set(value, { by, key, isLast });
    }
  });
  return appends;
}

/** Of transactions that were committed: what others saw says nothing. */
function readsOf(history: readonly Transaction[]): readonly Read[] {
  return history.flatMap(({ operations, outcome }, by) =>
    outcome !== "Committed"
      ? []
      : operations.flatMap((each) => (each.kind === "read" ? [{ by, key: each.key, values: each.values }] : [])),
  );
}

function internal({ operations }: Transaction, by: number): readonly Anomaly[] {
  /** What a list must end with; all of it, once it was read. */
  const known = new Map<string, { readonly values: readonly number[]; readonly isAll: boolean }>();
  const found: Anomaly[] = [];
  for (const operation of operations) {
    const { values: expected, isAll } = known.get(operation.key) ?? { values: [], isAll: false };
    if (operation.kind === "append") {
      known.set(operation.key, { values: [...expected, operation.value], isAll });
      continue;
    }
    const { key, values } = operation;
    const compared = isAll ? values : values.slice(Math.max(0, values.length - expected.length));
    if (!areEqual(compared, expected)) {
      const text = `transaction ${by} read ${listText(key, values)}, expected ${isAll ? "" : "… "}${expected.join(" ")}`;
      found.push({ kind: "internal", message: text });
    }
    known.set(key, { values, isAll: true });
  }
  return found;
}

function wrongValues(
  { by, key, values }: Read,
  appends: ReadonlyMap<number, Append>,
  history: readonly Transaction[],
): readonly Anomaly[] {
  const text = `transaction ${by} read ${listText(key, values)}`;
  const found: Anomaly[] = [];
  if (new Set(values).size < values.length) found.push({ kind: "appended twice", message: text });
  for (const value of values) {
    const append = appends.get(value);
    if (append?.key !== key) found.push({ kind: "unknown value", message: `${text}; nobody appended ${value}`, value });
    else if (history[append.by]?.outcome === "Aborted")
      found.push({
        kind: "G1a",
        message: `${text}; transaction ${append.by}, which appended ${value}, aborted`,
        value,
      });
  }
  const last = appends.get(values.at(-1) ?? Number.NaN);
  if (last !== undefined && last.by !== by && !last.isLast)
    found.push({ kind: "G1b", message: `${text}; transaction ${last.by} appended more to it` });
  return found;
}

/** The longest first. */
function byLength(list: readonly Read[]): readonly Read[] {
  return list.toSorted((one, other) => other.values.length - one.values.length);
}

function incompatible(list: readonly Read[]): readonly Anomaly[] {
  const [longest, ...others] = byLength(list);
  const other = others.find(({ values }) => !areEqual(values, longest?.values.slice(0, values.length) ?? []));
  if (longest === undefined || other === undefined) return [];
  const { key } = longest;
  const message = `transaction ${other.by} read ${listText(key, other.values)}, transaction ${longest.by} read ${listText(key, longest.values)}`;
  return [{ kind: "incompatible order", message }];
}

/** Acknowledged appends that later transactions do not see. */
function missing(
  list: readonly Read[],
  appends: readonly (readonly [number, Append])[],
  history: readonly Transaction[],
): readonly Anomaly[] {
  const reads = list
    .map((read) => ({ ...read, startMs: history[read.by]?.startMs ?? 0, present: new Set(read.values) }))
    .toSorted((one, other) => one.startMs - other.startMs);
  const last = reads.at(-1);
  if (last === undefined) return [];
  return appends.flatMap(([value, { by, key }]): readonly Anomaly[] => {
    const { outcome, endMs = 0 } = history[by] ?? {};
    if (outcome !== "Committed") return [];
    const stale = reads.find(({ startMs, present }) => startMs > endMs && !present.has(value));
    if (stale === undefined) return [];
    const kind = last.present.has(value) ? "stale read" : "lost append";
    const message = `transaction ${by} appended ${value} to ${key}, and transaction ${stale.by}, which began later, read ${listText(key, stale.values)}`;
    return [{ kind, message, value }];
  });
}

function cycles(lists: readonly (readonly Read[])[], appends: ReadonlyMap<number, Append>): readonly Anomaly[] {
  const dependencies = lists.flatMap((list) => dependenciesOf(list, appends));
  return findCycles(dependencies).map(({ kind, dependencies: cycle }) => ({
    kind,
    message: cycle.map(({ from, to, kind: via, key }) => `${from} ${via}(${key}) ${to}`).join(", "),
  }));
}

/** The longest read of a list is the order of its appends. */
function dependenciesOf(list: readonly Read[], appends: ReadonlyMap<number, Append>): readonly Dependency[] {
  const order = byLength(list)[0]?.values ?? [];
  const place = new Map(order.map((value, i) => [value, i]));
  const writer = (at: number): number | undefined => appends.get(order[at] ?? Number.NaN)?.by;
  const found: Dependency[] = [];
  const add = (kind: Dependency["kind"], from: number | undefined, to: number | undefined): void => {
    const key = list[0]?.key ?? "";
    if (from !== undefined && to !== undefined && from !== to) found.push({ kind, from, to, key });
  };
  order.forEach((_, i) => add("ww", writer(i - 1), writer(i)));
  for (const { by, values } of list) {
    const seen = values.findLast((value) => appends.get(value)?.by !== by);
    add("wr", appends.get(seen ?? Number.NaN)?.by, by);
    // What comes after its own appends follows these.
    if (seen !== values.at(-1)) continue;
    add("rw", by, writer(seen === undefined ? 0 : (place.get(seen) ?? Number.NaN) + 1));
  }
  return found;
}

function areEqual(one: readonly number[], other: readonly number[]): boolean {
  return one.length === other.length && one.every((value, i) => value === other[i]);
}

function listText(key: string, values: readonly number[]): string {
  return `${key}=[${values.join(" ")}]`;
}
