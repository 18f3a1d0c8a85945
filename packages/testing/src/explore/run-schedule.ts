/** One run: a story, a seed, and the faults that strike it. */
import { messageOf } from "@setpoint/apimachinery";
import { deletionOf } from "../deletion-request.ts";
import { durationOf, type Fault } from "../faults/fault.ts";
import {
  FaultBoard,
  isObservationFault,
  type RecordedEvent,
  type RecordedWrite,
  type Struck,
} from "../faults/fault-board.ts";
import { sitePattern } from "../faults/site-pattern.ts";
import type { KindRef } from "@setpoint/client";
import type { Hop, Sighting } from "../onlooker.ts";
import type { BrokenRule, Ending, Oracle, Reference } from "../oracles/oracle.ts";
import { simulateWatched } from "../simulate.ts";
import { lineOf } from "../trace.ts";
import { prefixOf } from "../storage-prefix.ts";
import { childKindsOf, isChild, managersOf, readKindsOf } from "../faults/child-kinds.ts";
import { endState, hashOf } from "../oracles/end-state.ts";
import { Recorder } from "./recorder.ts";
import { describeStep, play, settingOf, type Story, type Subject } from "./story.ts";

/** A run in full: the same seed, story and faults give the same trace. */
export interface Schedule {
  readonly seed: number;
  readonly story: Story;
  readonly faults: readonly Fault[];
}

export interface RunOptions {
  readonly oracles: readonly Oracle[];
  /**
   * How long the world may take to settle after a step and after the last fault, in milliseconds of virtual
   * time.
   */
  readonly withinMs: number;
  /** How long it must be quiet afterwards. */
  readonly quietMs: number;
  readonly reference?: Reference;
  /** Whether each site says what the world was like; it costs about as much as the run. */
  readonly namesStates?: boolean;
}

/** Everything that is known of a run. */
export interface RunReport {
  readonly schedule: Schedule;
  readonly broken: readonly BrokenRule[];
  readonly struck: readonly Struck[];
  readonly writes: readonly RecordedWrite[];
  readonly events: readonly RecordedEvent[];
  readonly hops: readonly Hop[];
  readonly sightings: readonly Sighting[];
  readonly end: Ending;
  /** What the operators make or look after. */
  readonly owned: readonly KindRef[];
  /** The kinds of objects that they read and that others have made. */
  readonly read: readonly KindRef[];
  readonly traceHash: string;
  /** When each step of the story began. */
  readonly stepsMs: readonly number[];
  /** When the story began and when it ended, in virtual time. */
  readonly startedMs: number;
  readonly endedMs: number;
}

const hourMs = 3_600_000;
/** Longer than some of the longest pauses between two attempts to watch. */
const backOffMs = 120_000;
/** What a crash costs: the pause before the process is started again, and the rest of its lease. */
const crashMsMax = 60_000;
/** Lines of a trace in a sentence. */
const linesMax = 8;

/** Throws when the world cannot be built; all else is in the report. */
export async function runSchedule(subject: Subject, schedule: Schedule, options: RunOptions): Promise<RunReport> {
  const { oracles = [], ...rest } = settingOf(subject);
  const board = new FaultBoard(schedule.faults);
  const recorder = new Recorder([...options.oracles, ...oracles]);
  const leaderElection = rest.leaderElection ?? (board.needsLease || (rest.replicas ?? 1) > 1);
  const watched = await simulateWatched(
    { controllers: "observed", ...rest, leaderElection, seed: schedule.seed },
    { board, onlooker: recorder },
  );
  await using world = watched.world;
  if (options.namesStates === true) board.nameStates(() => hashOf(endState(watched)));
  recorder.begin({ ...watched, host: world.host, faults: schedule.faults });
  const startedMs = board.startedMs;
  const stepsMs: number[] = [];
  let unsettled = await tell(schedule, options.withinMs, watched, stepsMs);
  const from = recorder.hops.length;
  // The oracle of operands reports a broken safety rule meanwhile.
  if (unsettled === undefined) {
    await world.run(options.quietMs).catch(() => {});
    [unsettled] = world.failures;
  }
  const loud = recorder.hops.slice(from).filter(({ kind }) => kind === "write" || kind === "read");
  const state = endState(watched);
  const summary = summaryOf(recorder.hops, watched.operators);
  const end: Ending = { state, summary };
  const broken = recorder.end({
    faults: schedule.faults,
    unsettled,
    loud: loud.slice(0, linesMax).map(lineOf),
    end,
    reference: options.reference,
    quietHours: options.quietMs / hourMs,
    hasForeignItems: watched.injector.hasForeignItems,
  });
  return {
    schedule,
    broken,
    struck: board.struck,
    writes: board.writes,
    events: board.events,
    hops: recorder.hops,
    sightings: recorder.sightings,
    end,
    owned: childKindsOf(watched.controllers),
    read: readBy(watched),
    traceHash: world.traceHash(),
    stepsMs,
    startedMs,
    endedMs: world.host.clock.monotonic(),
  };
}

function readBy({ controllers, storage }: Watched): readonly KindRef[] {
  const managers = managersOf(controllers);
  return readKindsOf(controllers).filter((kind) =>
    storage.list(prefixOf(kind)).objects.some((object) => !isChild(object, managers)),
  );
}

/** How much longer a world may take because of a fault: one may begin when another ends. */
function delayBy(fault: Fault): number {
  return durationOf(fault) + (fault.kind === "A6" ? fault.times * crashMsMax : 0);
}

type Watched = Awaited<ReturnType<typeof simulateWatched>>;

/** Why it is not settled, if it is not. */
async function tell(
  { story, faults }: Schedule,
  withinMs: number,
  watched: Watched,
  stepsMs: number[],
): Promise<string | undefined> {
  const { world, injector, board } = watched;
  const within = withinMs + faults.reduce((sum, fault) => sum + delayBy(fault), 0);
  for (const step of story.steps) {
    stepsMs.push(world.host.clock.monotonic());
    try {
      await play(world, step);
      if (step.kind !== "run" && step.isUnsettled !== true) await world.settled({ within });
    } catch (error) {
      return `after "${describeStep(step)}": ${messageOf(error)}`;
    }
  }
  const isOver = (): boolean => !injector.isBusy && board.isOver(world.host.clock.monotonic());
  try {
    // One more fault may strike while the world comes to rest after the others.
    do {
      await world.until("the last fault is over", isOver, { within: hourMs });
      // A client that lost its connection reconnects only after a back-off.
      if (faults.some(isObservationFault)) await world.run(backOffMs);
      await world.settled({ within });
    } while (!isOver());
  } catch (error) {
    return messageOf(error);
  }
  return undefined;
}

/** What operators created and deleted, and how often. A second deletion of the same object does not count. */
function summaryOf(hops: readonly Hop[], operators: readonly string[]): ReadonlyMap<string, number> {
  const summary = new Map<string, number>();
  const ended = new Set<string>();
  for (const { who, kind, what, status, request } of hops) {
    if (kind !== "write" || !operators.includes(who) || request === undefined) continue;
    const deletion = deletionOf(request);
    const isDone = status === 201 || (deletion !== undefined && (status === 200 || status === 202));
    if (!isDone) continue;
    if (deletion?.uid !== undefined && ended.has(deletion.uid)) continue;
    if (deletion?.uid !== undefined) ended.add(deletion.uid);
    const key = `${deletion === undefined ? "create" : "delete"} ${sitePattern(what.replace(/^[A-Z]+ /, ""))}`;
    summary.set(key, (summary.get(key) ?? 0) + 1);
  }
  return summary;
}
