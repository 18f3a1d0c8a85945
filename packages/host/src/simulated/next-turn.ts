/**
 * A turn of the event loop. Node asks the system for events only after all immediates that were set together,
 * so turns are set in batches: a schedule of a simulated world has some 340 turns, and asking after each of
 * them costs 3 to 10 % of it (`bench/widget-schedule.ts`, all controllers).
 */

/** Taken when the module is loaded: a world may forbid real time to everything else. */
const immediate = setImmediate;
/** A few milliseconds, for which the messages of a test runner wait. */
const batchSize = 128;

let turnsLeft = 0;
let waiting: (() => void)[] = [];

/** Resolves in a turn of its own: all promise reactions that are ready have run then. */
export function nextTurn(): Promise<void> {
  if (turnsLeft === 0) setBatch();
  return new Promise((resolve) => waiting.push(resolve));
}

function setBatch(): void {
  turnsLeft = batchSize;
  for (let turn = 0; turn < batchSize; turn++) immediate(beginTurn);
}

function beginTurn(): void {
  turnsLeft--;
  const resolves = waiting;
  waiting = [];
  for (const resolve of resolves) resolve();
}
