import { constants } from "node:os";

/** The number of a signal, 0 for none. */
export function signalNumber(name: NodeJS.Signals | null): number {
  return name === null ? 0 : constants.signals[name];
}

/** Of the kernel's: glibc keeps the first two for itself. */
const realTimeMin = 34;
const realTimeMax = 64;

/** `SIGQUIT`, `QUIT`, `3` or `SIGRTMIN+3`, as images name their stop signal; undefined when it is none. */
export function parseSignal(text: string): number | undefined {
  const name = text.toUpperCase().replace(/^(?:SIG)?/, "SIG");
  const [, start, offset = "0"] = /^SIG(\d{1,2}|RTMIN|RTMAX)(?:[+-](\d{1,2}))?$/.exec(name) ?? [];
  const numbers: Readonly<Record<string, number>> = {
    RTMIN: realTimeMin + Number(offset),
    RTMAX: realTimeMax - Number(offset),
  };
  const number = start === undefined ? constants.signals[name as NodeJS.Signals] : (numbers[start] ?? Number(start));
  return number !== undefined && number >= 1 && number <= realTimeMax ? number : undefined;
}
