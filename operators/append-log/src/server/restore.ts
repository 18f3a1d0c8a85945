/** The engine's own tool: it turns a backup, and a log where there is one, into the data of a new primary. */
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Replay } from "@setpoint/data-service";
import { saveData } from "./http-server.ts";
import { parseLogData } from "./log-data.ts";
import { replayed } from "./replay.ts";

/** Data that were replayed are on a history of their own. Resolves with the exit code. */
export function restore([snapshot = "", folder = "", replayFolder = "", replay]: readonly string[]): number {
  const backup = parseLogData(readFileSync(snapshot, "utf8"));
  saveData(folder, replay === undefined ? backup : replayed(backup, filesIn(replayFolder), parse(replay)));
  rmSync(replayFolder, { recursive: true, force: true });
  return 0;
}

/** The layer passes what `EngineTarget.replay` gave. */
function parse(replay: string): Replay {
  return JSON.parse(replay) as Replay;
}

function filesIn(replayFolder: string): ReadonlyMap<string, Uint8Array> {
  const folder = join(replayFolder, "log");
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return new Map(names.map((name) => [name, readFileSync(join(folder, name))]));
}
