import type { KubeObject } from "@setpoint/apimachinery";
import type { PlannedStep, StepMemory } from "../controller/step-memory.ts";
import type { FieldManagerConflict } from "../protection/field-manager-conflicts.ts";
import type { ReconcileLoop } from "../protection/reconcile-loops.ts";
import type { ProtectedKey } from "../protection/protections.ts";
import type { ReportedProblem } from "../status/reported-problem.ts";
import { WriteMemory } from "../writes/write-memory.ts";
import { CauseList } from "./cause-list.ts";

/**
 * All that a controller remembers of one key between its runs. It paces runs, leaves out writes that would
 * change nothing, and explains; what is right for the object never depends on it, for a process that starts
 * has none of it.
 */
export class KeyState implements ProtectedKey, StepMemory {
  readonly key: string;
  /** The object that it is about; undefined until the key runs. */
  uid: string | undefined;
  /** The changes that woke the key since its last run. */
  readonly causes: CauseList;
  /** The objects whose changes woke the key while it was running. */
  wokenBy: KubeObject[] = [];
  isPaused = false;
  /** Paused while this process watched: the user gets an event, as nobody does at a start. */
  isPauseNew = false;
  /** What was written for the object, and what the server made of it. */
  readonly writes: WriteMemory = new WriteMemory();
  /** The step that a plan is at. */
  step: PlannedStep | undefined;
  /** Runs in a row that failed. */
  failures = 0;
  reportedFailure: ReportedProblem | undefined;
  /** A call of an earlier run that failed after the run's end: the next run fails with it. */
  lateFailure: Error | undefined;
  /** What was reported of a deletion that does not end. */
  reportedDeletion: ReportedProblem | undefined;
  /** Runs without a reason, and what was done about them. */
  loop: ReconcileLoop | undefined;
  /** Another field manager that undoes the writes of this key. */
  fieldConflict: FieldManagerConflict | undefined;

  constructor(key: string, causes: CauseList = new CauseList()) {
    this.key = key;
    this.causes = causes;
  }

  /** Whether there is nothing in it that the next run would miss. */
  get isAtRest(): boolean {
    return (
      this.failures === 0 &&
      this.causes.isEmpty &&
      this.writes.isEmpty &&
      !this.isPaused &&
      !this.isPauseNew &&
      [this.step, this.lateFailure, this.reportedFailure, this.reportedDeletion, this.loop, this.fieldConflict].every(
        (each) => each === undefined,
      )
    );
  }
}

/** The states of a controller's keys. A key at rest has none, so at rest they cost nothing. */
export class KeyStates {
  readonly #states = new Map<string, KeyState>();

  get size(): number {
    return this.#states.size;
  }

  get(key: string): KeyState | undefined {
    return this.#states.get(key);
  }

  of(key: string): KeyState {
    return this.#states.get(key) ?? this.#add(new KeyState(key));
  }

  /** The key has another object of the same name: of the last one only what woke the key still counts. */
  replace({ key, causes }: KeyState): KeyState {
    return this.#add(new KeyState(key, causes));
  }

  drop(key: string): void {
    this.#states.delete(key);
  }

  values(): Iterable<KeyState> {
    return this.#states.values();
  }

  #add(state: KeyState): KeyState {
    this.#states.set(state.key, state);
    return state;
  }
}
