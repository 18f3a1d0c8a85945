import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { processesWith } from "./processes.ts";

const program = fileURLToPath(new URL("../examples/start.ts", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "setpoint-start-"));
afterAll(() => rmSync(folder, { recursive: true }));

interface Ended {
  readonly code: number | null;
  readonly said: string;
}

/** Runs what `npm start` runs; sends the signal to stop as soon as the output holds `untilSaid`. */
async function start(args: readonly string[], untilSaid?: string): Promise<Ended> {
  const child = spawn(process.execPath, ["--conditions=@setpoint/source", program, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  let isTold = false;
  const hear = (text: string): void => {
    said += text;
    if (isTold || untilSaid === undefined || !said.includes(untilSaid)) return;
    isTold = true;
    child.kill("SIGINT");
  };
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", hear);
  const [code] = (await once(child, "close")) as [number | null];
  return { code, said };
}

test("^C while `npm start` waits for the cluster ends it at once, with all that it has started", async () => {
  const data = join(folder, "data");
  const { code, said } = await start(["--data-dir", data], "waiting for the operator");
  expect(said).toContain("\nStopping …\n");
  expect(said.trimEnd().endsWith("Stopped by SIGINT")).toBe(true);
  expect(code).toBe(1);
  expect(processesWith(data)).toEqual([]);
}, 60_000);

test("what `npm start` cannot use is one sentence", async () => {
  const file = join(folder, "file");
  writeFileSync(file, "");
  expect(await start(["--fly"])).toEqual({ code: 2, said: "Cannot start: Unknown option '--fly'\n" });
  const { code, said } = await start(["--data-dir", file]);
  expect(said).toMatch(/^Cannot use ".*file" as data directory: it is a file, expected a folder\n$/);
  expect(code).toBe(1);
});
