/**
 * Keeps real time, real chance and the network out of simulated worlds. What runs in a world knows so by its async context, as
 * does everything that it starts; the globals ask it. Code outside, a test and its runner included, notices nothing.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { guardGlobals } from "./guarded-globals.ts";

const guards = new AsyncLocalStorage<WorldGuard>();

/** One for each world. */
export class WorldGuard {
  readonly #violations: string[] = [];

  constructor() {
    guardGlobals((call, instead) => guards.getStore()?.refuse(call, instead));
  }

  /** Sentences about what was called and must not be. */
  get violations(): readonly string[] {
    return this.#violations;
  }

  /** Runs something in the world, with everything that comes of it. */
  enter<T>(run: () => T): T {
    return guards.run(this, run);
  }

  /** Called for what runs in it. */
  refuse(call: string, instead: string): never {
    const error = new Error();
    const reason = "it sees nothing real, so that a run follows from its seed";
    const sentence = `Cannot call ${call} in a simulated world: ${reason}; ${instead}`;
    this.#violations.push(`${sentence} (${callerOf(error)})`);
    error.message = sentence;
    throw error;
  }
}

/** The frame that called a guarded global. */
function callerOf({ stack = "" }: Error): string {
  const frames = stack.split("\n").filter((line) => /^\s+at /.test(line));
  const caller = frames.find((line) => !/[/\\](world-guard|guarded-globals)\.[jt]s/.test(line)) ?? "";
  return caller.trim().replaceAll("file://", "") || "at an unknown place";
}
