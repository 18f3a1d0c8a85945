/** Everything by which a program sees real time, chance and the network, with a question before each use. */
import nodeCrypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { performance as nodePerformance } from "node:perf_hooks";
import nodeTimers from "node:timers";
import nodeTimersPromises from "node:timers/promises";

/** Asked before each use; throws when there must be none. */
export type Ask = (call: string, instead: string) => void;

const useClock = "take the time from the clock of the context (`context.host.clock`)";
const useTimer = "wait by the clock of the context (`context.host.clock.setTimer`), or return `requeueAfter`";
const useRandom = "take chance from the host's `random`";
const useCall = "reach others by `process.call` of the operator's process";

const names = {
  timers: ["setTimeout", "setInterval", "setImmediate"],
  chance: ["randomBytes", "randomFill", "randomFillSync", "randomInt", "randomUUID", "getRandomValues"],
  now: ["instant", "plainDateISO", "plainDateTimeISO", "plainTimeISO", "zonedDateTimeISO"],
};

let ask: Ask | undefined;

/** Guards them from now on, for good; a second call changes nothing. */
export function guardGlobals(asked: Ask): void {
  if (ask !== undefined) return;
  ask = asked;
  guardDate();
  guard(nodePerformance, "now", "performance.now()", useClock);
  guardHighResolution();
  for (const name of names.timers) {
    guard(globalThis, name, `${name}()`, useTimer);
    guard(nodeTimers, name, `${name}()`, useTimer);
    guard(nodeTimersPromises, name, `${name}()`, useTimer);
  }
  guard(Math, "random", "Math.random()", useRandom);
  for (const name of names.chance) {
    guard(globalThis.crypto, name, `crypto.${name}()`, useRandom);
    guard(nodeCrypto, name, `crypto.${name}()`, useRandom);
  }
  guard(globalThis, "fetch", "fetch()", useCall);
  const { Temporal } = globalThis as { readonly Temporal?: { readonly Now?: object } };
  for (const name of names.now) guard(Temporal?.Now, name, `Temporal.Now.${name}()`, useClock);
  // Modules that imported a name of these see the guarded one, too.
  syncBuiltinESMExports();
}

type AnyFunction = (this: unknown, ...args: unknown[]) => unknown;

/** Replaces a function by one that asks first; does nothing where a version of Node has none. */
function guard(owner: object | undefined, name: string, call: string, instead: string): void {
  const real: unknown = owner === undefined ? undefined : Reflect.get(owner, name);
  if (owner === undefined || typeof real !== "function") return;
  const guarded = function (this: unknown, ...args: unknown[]): unknown {
    ask?.(call, instead);
    return Reflect.apply(real as AnyFunction, this, args);
  };
  // What hangs on it (`util.promisify.custom`) is part of its contract.
  Object.defineProperties(guarded, Object.getOwnPropertyDescriptors(real));
  const own = Object.getOwnPropertyDescriptor(owner, name);
  // What cannot be replaced is an alias of something that can (`getRandomValues` of `node:crypto`).
  if (own?.configurable === false && own.writable !== true) return;
  if (own?.configurable === false) Reflect.set(owner, name, guarded);
  else
    Object.defineProperty(owner, name, {
      value: guarded,
      configurable: true,
      enumerable: own?.enumerable ?? true,
      writable: true,
    });
}

/** A date that is made of something is data; one that is made of nothing is the time. */
function guardDate(): void {
  const RealDate = Date;
  const GuardedDate = function (...args: readonly unknown[]): unknown {
    if (new.target === undefined || args.length === 0) ask?.("Date()", useClock);
    if (new.target === undefined) return RealDate();
    // The usual case by itself: a world makes thousands of dates.
    if ((new.target as unknown) === GuardedDate) return new RealDate(...(args as [number]));
    return Reflect.construct(RealDate, args, new.target);
  };
  Object.defineProperties(GuardedDate, Object.getOwnPropertyDescriptors(RealDate));
  guard(GuardedDate, "now", "Date.now()", useClock);
  Object.defineProperty(globalThis, "Date", { value: GuardedDate, configurable: true, writable: true });
}

function guardHighResolution(): void {
  guard(process, "hrtime", "process.hrtime()", useClock);
  guard(process.hrtime, "bigint", "process.hrtime.bigint()", useClock);
  guard(process, "uptime", "process.uptime()", useClock);
}
