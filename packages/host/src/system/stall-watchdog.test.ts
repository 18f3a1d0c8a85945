import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";

const fixture = new URL("./stall-watchdog.fixture.ts", import.meta.url).pathname;

/** A process that stands still in some way, and is sent SIGTERM when it does. */
async function standStill(way: string, signal?: NodeJS.Signals) {
  const child = spawn(process.execPath, [fixture, way], { stdio: ["ignore", "pipe", "pipe"] });
  const output = { out: "", err: "" };
  child.stdout.on("data", (chunk: Buffer) => {
    output.out += chunk.toString();
    if (signal !== undefined && output.out.includes("begins")) child.kill(signal);
  });
  child.stderr.on("data", (chunk: Buffer) => (output.err += chunk.toString()));
  await once(child, "close");
  return { ...output, code: child.exitCode, signal: child.signalCode };
}

test.concurrent.each([
  ["an endless loop", "loop", "loop"],
  ["promises without an end", "promises", "promises"],
])("a process that cannot hear SIGTERM because of %s says where it is, and ends in time", async (_, way, place) => {
  const { code, err } = await standStill(way, "SIGTERM");
  expect(code).toBe(1);
  expect(err).toContain('"message":"Event loop stalled"');
  expect(err).toContain('"message":"Event loop stalled for too long; the process ends"');
  expect(err).toMatch(new RegExp(`${place} \\(\\S*stall-watchdog\\.fixture\\.ts:\\d+\\)`));
});

test.concurrent("a process that stands still outside of JavaScript ends in time, too", async () => {
  const { signal, err } = await standStill("native", "SIGTERM");
  expect(signal).toBe("SIGKILL");
  expect(err).toContain("(outside of JavaScript)");
});

test.concurrent("a stall that is over is reported, and the process goes on", async () => {
  const { code, out, err } = await standStill("briefly");
  expect(code).toBe(0);
  expect(out).toContain("ended by itself");
  expect(err).toContain('"message":"Event loop stalled"');
  expect(err).toContain('"message":"Event loop goes on"');
});

test.concurrent("a process that waits is left alone", async () => {
  const { code, err } = await standStill("works");
  expect(code).toBe(0);
  expect(err).toBe("");
});
