/**
 * Cycles of dependencies between transactions, by the names of Adya: a cycle says that no serial order of
 * the transactions explains what they saw.
 */

export type DependencyKind = "ww" | "wr" | "rw";

/** `to` comes after `from`, because of what both did with the key. */
export interface Dependency {
  readonly from: number;
  readonly to: number;
  /** The write that it follows; the write that it read; the write that overtook its read. */
  readonly kind: DependencyKind;
  readonly key: string;
}

export type CycleKind = "G0" | "G1c" | "G-single" | "G2";

export interface Cycle {
  readonly kind: CycleKind;
  readonly dependencies: readonly Dependency[];
}

/** Which dependencies a cycle of this kind has: one of `begins`, and further ones of `goesOn`. */
const shapes: readonly {
  readonly kind: CycleKind;
  readonly begins: DependencyKind;
  readonly goesOn: readonly DependencyKind[];
  readonly rwMin: number;
}[] = [
  { kind: "G0", begins: "ww", goesOn: ["ww"], rwMin: 0 },
  { kind: "G1c", begins: "wr", goesOn: ["ww", "wr"], rwMin: 0 },
  { kind: "G-single", begins: "rw", goesOn: ["ww", "wr"], rwMin: 1 },
  { kind: "G2", begins: "rw", goesOn: ["ww", "wr", "rw"], rwMin: 2 },
];

/** One of the shortest cycles of each kind that there is. */
export function findCycles(dependencies: readonly Dependency[]): readonly Cycle[] {
  const left = withoutEnds(dependencies);
  return shapes.flatMap(({ kind, begins, goesOn, rwMin }) => {
    const after = Map.groupBy(
      left.filter((each) => goesOn.includes(each.kind)),
      ({ from }) => from,
    );
    const cycles = left
      .filter((each) => each.kind === begins)
      .map((first) => [first, ...(pathBetween(after, first.to, first.from) ?? [])])
      .filter((cycle) => cycle.at(-1)?.to === cycle[0]?.from && countRw(cycle) >= rwMin);
    const shortest = cycles.toSorted((one, other) => one.length - other.length)[0];
    return shortest === undefined ? [] : [{ kind, dependencies: shortest }];
  });
}

function countRw(cycle: readonly Dependency[]): number {
  return cycle.filter(({ kind }) => kind === "rw").length;
}

/** Without transactions that nothing precedes, or that precede nothing: they are on no cycle. */
function withoutEnds(dependencies: readonly Dependency[]): readonly Dependency[] {
  return withoutStarts(withoutStarts(dependencies, "from", "to"), "to", "from");
}

/** Takes away again and again what nothing left precedes. */
function withoutStarts(
  dependencies: readonly Dependency[],
  from: "from" | "to",
  to: "from" | "to",
): readonly Dependency[] {
  const after = Map.groupBy(dependencies, (each) => each[from]);
  const preceding = new Map<number, number>();
  for (const each of dependencies) preceding.set(each[to], (preceding.get(each[to]) ?? 0) + 1);
  const starts = [...after.keys()].filter((each) => !preceding.has(each));
  for (const start of starts)
    for (const each of after.get(start) ?? []) {
      const left = (preceding.get(each[to]) ?? 0) - 1;
      preceding.set(each[to], left);
      if (left === 0) starts.push(each[to]);
    }
  const gone = new Set(starts);
  return dependencies.filter((each) => !gone.has(each[from]));
}

/** The shortest one; undefined when there is none. */
function pathBetween(
  after: ReadonlyMap<number, readonly Dependency[]>,
  start: number,
  end: number,
): readonly Dependency[] | undefined {
  const reachedBy = new Map<number, Dependency>();
  const queue = [start];
  for (const at of queue) {
    for (const dependency of after.get(at) ?? []) {
      if (dependency.to === start || reachedBy.has(dependency.to)) continue;
      reachedBy.set(dependency.to, dependency);
      if (dependency.to === end) return traceBack(reachedBy, start, end);
      queue.push(dependency.to);
    }
  }
  return undefined;
}

function traceBack(reachedBy: ReadonlyMap<number, Dependency>, start: number, end: number): readonly Dependency[] {
  const path: Dependency[] = [];
  for (let at = end; at !== start;) {
    const dependency = reachedBy.get(at);
    if (dependency === undefined) throw new Error(`transaction ${at} was not reached`);
    path.unshift(dependency);
    at = dependency.from;
  }
  return path;
}
