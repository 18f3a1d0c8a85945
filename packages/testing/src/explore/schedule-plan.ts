/** Which schedules are run, in which order. */
import type { Random } from "@setpoint/host";
import { type Fault, type FaultKind, siteName } from "../faults/fault.ts";

/** A cell of the coverage: one kind of fault (with its details) at one site. */
export function cellOf(fault: Fault): string {
  const { kind, at, ...rest } = fault;
  return `${kind} ${siteName(at)} ${JSON.stringify(rest)}`;
}

/** In an order in which the kinds take turns, so that a run that ends early has seen something of each. */
export function interleaved(faults: readonly Fault[], random: Random): readonly Fault[] {
  const byKind = new Map<FaultKind, Fault[]>();
  for (const fault of faults) byKind.set(fault.kind, [...(byKind.get(fault.kind) ?? []), fault]);
  const rows = [...byKind.values()].map((row) => shuffled(row, random));
  return takingTurns(rows);
}

/** The first of each row, then the second of each, and so on. */
export function takingTurns<T>(rows: readonly (readonly T[])[]): readonly T[] {
  const longest = Math.max(0, ...rows.map(({ length }) => length));
  return Array.from({ length: longest }, (_, index) => rows.flatMap((row) => row.slice(index, index + 1))).flat();
}

/** A random subset of a random subset of the kinds, as swarm testing wants it. */
export function swarmOf(faults: readonly Fault[], random: Random, faultsMax: number): readonly Fault[] {
  const kinds = new Set(faults.map(({ kind }) => kind).filter(() => random.int(2) === 0));
  const eligible = faults.filter(({ kind }) => kinds.size === 0 || kinds.has(kind));
  const count = 2 + random.int(faultsMax - 1);
  return Array.from({ length: count }, () => eligible[random.int(eligible.length)]).filter(
    (fault) => fault !== undefined,
  );
}

function shuffled<T>(list: readonly T[], random: Random): readonly T[] {
  const rest = [...list];
  for (let index = rest.length - 1; index > 0; index--) {
    const other = random.int(index + 1);
    const [a, b] = [rest[index], rest[other]];
    if (a === undefined || b === undefined) continue;
    rest[index] = b;
    rest[other] = a;
  }
  return rest;
}
