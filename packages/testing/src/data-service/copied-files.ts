/** Copies of data on a simulated volume, which containers of the operator's image make and remove. */
import type { Launch, Program, SimulatedVolume } from "../program-model.ts";

const copyMsMin = 50;
const copyMsMax = 1_000;
const killedCode = 137;

/** Data that change in place, and can be copied. */
interface Copyable {
  copied(): unknown;
}

/** `copy-aside SOURCE TARGET` or `remove-copies FOLDER`; a kill before its end leaves nothing. */
export function copyFiles(launch: Launch, copies: Map<string, unknown>, refusal: string | undefined): Program {
  const { command, host, volumes } = launch;
  const [task = "", source = "", target = ""] = command;
  const files = fileMap(volumes, source);
  const finish = (): void => {
    if (task === "remove-copies") {
      for (const path of [...files.keys()].filter((each) => each.startsWith(`${source}/`))) {
        files.delete(path);
        copies.delete(path);
      }
      return launch.exited(0);
    }
    if (refusal !== undefined) return launch.exited(1, refusal);
    if (!files.has(target)) files.set(target, copyOf(files.get(source)));
    copies.set(target, files.get(target));
    launch.exited(0, JSON.stringify({ bytes: 1 }));
  };
  const timer = host.clock.setTimer(finish, copyMsMin + host.random.int(copyMsMax - copyMsMin));
  const end = (): void => {
    timer.cancel();
    launch.exited(killedCode);
  };
  return { terminate: end, kill: end };
}

function fileMap(volumes: ReadonlyMap<string, SimulatedVolume>, path: string): Map<string, unknown> {
  const mount = [...volumes].find(([folder]) => path.startsWith(`${folder}/`));
  if (mount === undefined) throw new Error(`Cannot copy ${path}: no volume is mounted above it`);
  return mount[1].files;
}

function copyOf(value: unknown): unknown {
  return isCopyable(value) ? value.copied() : value;
}

function isCopyable(value: unknown): value is Copyable {
  return typeof value === "object" && value !== null && "copied" in value && typeof value.copied === "function";
}
