/**
 * Keeps real time, real chance and the network out of simulated worlds. Code in a world has its async
 * context, and so has all that it starts; the globals check it. Code outside, such as a test and its runner,
 * notices nothing.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { guardGlobals } from "./guarded-globals.ts";
import { guardRejections } from "./guarded-rejections.ts";

const guards = new AsyncLocalStorage<WorldGuard>();

/** One for each world. */
export class WorldGuard {
  readonly #violations: string[] = [];

  constructor() {
    guardGlobals((call, instead) => guards.getStore()?.refuse(call, instead));
    guardRejections();
  }

  /** Sentences about forbidden calls. */
  get violations(): readonly string[] {
    return this.#violations;
  }

  /** Runs a function in the world, with all that it starts. */
  enter<T>(run: () => T): T {
    return guards.run(this, run);
  }

  /** Called at each guarded call in the world. */
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
