/** Makes one system call, or starts threads, and prints the answer. */
import { constants } from "node:os";
import type { SystemCall } from "../acts/probed-pod.ts";
import { numberOf } from "./system-call-numbers.ts";

const argumentsMax = 6;
/** The kernel reads them while no variable of ours does. */
const liveBuffers: Buffer[] = [];
const errorNames = new Map(Object.entries(constants.errno).map(([name, value]) => [value, name]));

/** Node has this module from version 26 on. */
async function loadForeignFunctions(): Promise<typeof import("node:ffi") | undefined> {
  try {
    return await import("node:ffi");
  } catch {
    return undefined;
  }
}

function answer(value: unknown): number {
  process.stdout.write(`${JSON.stringify(value ?? null)}\n`);
  return 0;
}

/** `text` is a `SystemCall` as JSON. */
export async function runSystemCall(text: string): Promise<number> {
  // Our own process has written it.
  const call = JSON.parse(text) as SystemCall;
  const ffi = await loadForeignFunctions();
  if (ffi === undefined) return answer(undefined);
  const { functions } = ffi.dlopen("libc.so.6", {
    syscall: { return: "i64", arguments: ["i64", "i64", "i64", "i64", "i64", "i64", "i64"] },
    __errno_location: { return: "pointer", arguments: [] },
  });
  const values = call.arguments.map((each) => {
    if (each === "parent") return BigInt(process.ppid);
    if (typeof each === "number") return BigInt(each);
    const buffer = Buffer.from(`${each.bytes}\0`);
    liveBuffers.push(buffer);
    return ffi.getRawPointer(buffer);
  });
  const padded = [...values, ...Array.from({ length: argumentsMax - values.length }, () => 0n)];
  const errorAt = functions.__errno_location();
  const send = (number: number, args: readonly bigint[]): bigint =>
    functions.syscall(BigInt(number), ...(args as [bigint, bigint, bigint, bigint, bigint, bigint]));
  const result = send(numberOf(call.name), padded);
  if (call.name === "clone" && result === 0n)
    send(
      numberOf("exit_group"),
      Array.from({ length: argumentsMax }, () => 0n),
    );
  const error = result === -1n ? ffi.getInt32(errorAt) : undefined;
  if (call.name === "clone" && result > 0n) send(numberOf("wait4"), [result, 0n, 0n, 0n, 0n, 0n]);
  return answer({
    result: Number(result),
    ...(error === undefined ? {} : { error: errorNames.get(error) ?? `error ${error}` }),
  });
}

/** Starts threads that wait for ever, until the kernel refuses one; the end of the process ends them. */
export async function runThreads(max: number): Promise<number> {
  const ffi = await loadForeignFunctions();
  if (ffi === undefined) return answer(undefined);
  const { lib, functions } = ffi.dlopen("libc.so.6", {
    pthread_create: { return: "i32", arguments: ["pointer", "pointer", "pointer", "pointer"] },
    _exit: { return: "void", arguments: ["i32"] },
  });
  const wait = ffi.dlsym(lib, "pause");
  const identity = Buffer.alloc(8);
  let started = 0;
  while (started < max && functions.pthread_create(ffi.getRawPointer(identity), 0n, wait, 0n) === 0) started++;
  answer(started);
  // An ordinary exit would wait for the threads.
  process.stdout.write("", () => functions._exit(0));
  return 0;
}
