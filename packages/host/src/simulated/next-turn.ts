/** Taken when the module is loaded: a world may take it away from everybody else. */
const immediate = setImmediate;
/**
 * Immediates that are asked for at once run one after the other, each after all promise reactions of the one before, and only after
 * the last one Node asks the system for events, which was a tenth of the time of a simulated run. A schedule has some hundred turns;
 * what is real beside it (the messages of a test runner) waits for a few milliseconds.
 */
const turnsAtOnce = 128;

let turn: Promise<void> | undefined;
let begin: () => void;
let turnsLeft = 0;

/** Resolves in a turn of the event loop of its own: all promise reactions that are ready have run then. */
export function nextTurn(): Promise<void> {
  turn ??= new Promise((resolve) => {
    begin = resolve;
  });
  if (turnsLeft > 0) return turn;
  turnsLeft = turnsAtOnce;
  for (let i = 0; i < turnsAtOnce; i++) immediate(beginTurn);
  return turn;
}

function beginTurn(): void {
  turnsLeft--;
  if (turn === undefined) return;
  turn = undefined;
  begin();
}
