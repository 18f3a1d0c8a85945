/** In each test worker: which mutant is alive, and which ones were asked for. The campaign says so by two files. */
import { appendFileSync, readFileSync } from "node:fs";

const aliveFile = process.env["SETPOINT_MUTANT_FILE"] ?? "";
const hitsFile = process.env["SETPOINT_MUTANT_HITS"];
const alive = Number(readFileSync(aliveFile, "utf8"));
const hits = new Set<number>();

(globalThis as { __setpointMutant?: (id: number) => boolean }).__setpointMutant = (id) => {
  if (hitsFile !== undefined && !hits.has(id)) {
    hits.add(id);
    appendFileSync(hitsFile, `${id}\n`);
  }
  return id === alive;
};
