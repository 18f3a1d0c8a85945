import { constants } from "node:os";

/** The number of a signal, 0 for none. */
export function signalNumber(name: NodeJS.Signals | null): number {
  return name === null ? 0 : constants.signals[name];
}
