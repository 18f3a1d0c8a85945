/** Every fault that could have struck a run: its cells are what coverage counts. */
import type { KindRef } from "@setpoint/client";
import {
  type Fault,
  type FaultKind,
  faultNames,
  type ObservationFault,
  type StepSite,
  type WriteFault,
} from "../faults/fault.ts";
import type { RecordedEvent, RecordedWrite } from "../faults/fault-board.ts";

const seconds = 1_000;
const minutes = 60 * seconds;
const hours = 60 * minutes;

/**
 * Faults that only `simulate({ faults })` strikes: they destroy what a run without faults is compared with.
 */
const unplaced: ReadonlySet<FaultKind> = new Set(["E3", "E4", "E10"]);

/** The kinds that an exploration can strike with. */
export const placedKinds: readonly FaultKind[] = (Object.keys(faultNames) as FaultKind[]).filter(
  (kind) => !unplaced.has(kind),
);

export interface MenuOptions {
  /** Absent: all that are legal. */
  readonly kinds?: readonly FaultKind[];
  /** What the operators own: that which may be deleted and edited by hand. */
  readonly owned: readonly KindRef[];
  /** The kinds of objects that the operators read and that others have made. */
  readonly read: readonly KindRef[];
  /** Whether there are processes in pods. */
  readonly hasPods: boolean;
  /** Changes of the spec that are made and taken back. */
  readonly flips: readonly Readonly<Record<string, unknown>>[];
  readonly nodes: number;
  /** Every detail of a kind at every site, instead of one after the other. */
  readonly isThorough: boolean;
}

/** The faults of one run, without those that a run cannot tell from another one. */
export function faultMenu(
  writes: readonly RecordedWrite[],
  events: readonly RecordedEvent[],
  options: MenuOptions,
): readonly Fault[] {
  const { kinds, isThorough } = options;
  const chosen = (faults: readonly Fault[], index: number): readonly Fault[] =>
    isThorough ? faults : oneOfEach(faults, index);
  const all = [
    ...writes.flatMap((write, index) => chosen(writeFaults(write), index)),
    ...events.flatMap((event, index) => chosen(observationFaults(event, options), index)),
    ...writes.flatMap(({ site }, index) => chosen(stepFaults(site, index, options), index)),
  ];
  return all.filter(({ kind }) => (kinds === undefined ? kind !== "C13" : kinds.includes(kind)));
}

/** Of each kind one, with details that take turns from site to site. */
function oneOfEach(faults: readonly Fault[], index: number): readonly Fault[] {
  const byKind = Map.groupBy(faults, ({ kind }) => kind);
  return [...byKind.values()].flatMap((same) => same[index % same.length] ?? []);
}

function writeFaults({ site: at, isCall, verb }: RecordedWrite): readonly WriteFault[] {
  const always: readonly WriteFault[] = [
    { kind: "A1", at },
    { kind: "A2", at },
    { kind: "A3", at },
    { kind: "B1", at },
    { kind: "B2", at },
    { kind: "B3", at, lateMs: 2 * seconds },
  ];
  const first: readonly WriteFault[] = at.nth === 1 ? [{ kind: "A6", at, every: 2, times: 6 }] : [];
  if (isCall) return [...always, ...first];
  const refused: readonly WriteFault[] = [
    { kind: "B5", at, status: 429, times: 2 },
    { kind: "B5", at, status: 500, times: 2 },
    { kind: "B5", at, status: 503, times: 2 },
  ];
  // A deletion by UID never conflicts with another writer.
  const conflict: readonly WriteFault[] = verb === "DELETE" ? [] : [{ kind: "B4", at, times: 3 }];
  const quota: readonly WriteFault[] = verb === "POST" ? [{ kind: "B6", at, forMs: 20 * seconds }] : [];
  return [...always, ...first, ...refused, ...conflict, ...quota];
}

function observationFaults({ site: at, type }: RecordedEvent, { read }: MenuOptions): readonly ObservationFault[] {
  const always: readonly ObservationFault[] = [
    { kind: "C1", at, forMs: 5 * seconds },
    // Longer than a process takes to come back.
    { kind: "C3", at, back: 3, forMs: 15 * seconds },
    { kind: "C4", at, forMs: 5 * seconds },
    { kind: "C5", at, forMs: 20 * seconds },
    { kind: "C6", at, compacted: false },
    { kind: "C6", at, compacted: true },
    { kind: "C8", at, times: 2 },
    { kind: "C10", at },
    { kind: "C13", at },
  ];
  // Of what is only read nothing else shows that a cache lags behind the server.
  const isLong = at.nth === 1 || read.some(({ plural }) => plural === at.event);
  const silence: readonly ObservationFault[] = isLong ? [{ kind: "C7", at, forMs: 160 * seconds }] : [];
  const deletion: readonly ObservationFault[] = type === "DELETED" ? [{ kind: "C11", at, forMs: 10 * seconds }] : [];
  return [...always, ...silence, ...deletion];
}

/** Ranks go round, so that over all steps each child is struck. */
function stepFaults(at: StepSite, rank: number, { owned, read, hasPods, flips, nodes }: MenuOptions): readonly Fault[] {
  const children = owned.flatMap(({ plural: resource }): readonly Fault[] => [
    { kind: "E1", at, child: { resource, rank } },
    { kind: "E2", at, child: { resource, rank }, own: false },
    { kind: "E2", at, child: { resource, rank }, own: true },
    { kind: "E2", at, child: { resource, rank }, own: true, of: "spec" },
  ]);
  const pods: readonly Fault[] = hasPods
    ? [
        { kind: "E8", at, rank },
        { kind: "E9", at, rank: rank % nodes, backMs: 2 * minutes },
      ]
    : [];
  return [
    { kind: "D1", at, forMs: 20 * seconds },
    { kind: "D2", at, delayMs: 4 * seconds, forMs: minutes },
    { kind: "D3", at, forMs: 5 * seconds },
    { kind: "D3", at, forMs: minutes },
    { kind: "D4", at, byMs: hours },
    { kind: "D4", at, byMs: -hours },
    ...children,
    ...read.map(({ plural: resource }): Fault => ({ kind: "E11", at, child: { resource, rank }, forMs: 5 * seconds })),
    ...pods,
    ...flips.map((patch): Fault => ({ kind: "E6", at, patch, backMs: 3 * seconds })),
  ];
}
