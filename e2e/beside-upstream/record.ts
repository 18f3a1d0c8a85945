/**
 * `npm run beside-upstream:record`: starts a genuine kube-apiserver, sends it the inputs, and writes its
 * answers to recorded/. It needs the script `up.sh` of the folder that SETPOINT_REFERENCE names and the
 * binaries of the folder that BIN names.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { readInputs } from "./inputs.ts";
import { writeRecording } from "./recordings.ts";
import { Session, type Server } from "./replay.ts";

const port = 27_443;
const stopMsMax = 60_000;
const folder = process.env["SETPOINT_REFERENCE"] ?? new URL("../../../shared/reference", import.meta.url).pathname;
const bin = process.env["BIN"] ?? "bin";
const script = join(folder, "up.sh");

function started(directory: string): Server {
  execFileSync(script, [bin, directory, String(port)], { stdio: ["ignore", "inherit", "inherit"] });
  const read = (name: string): string => readFileSync(join(directory, "pki", name), "utf8");
  return { url: `https://127.0.0.1:${port}`, ca: read("ca.crt"), cert: read("admin.crt"), key: read("admin.key") };
}

/** kube-apiserver answers its last requests for some seconds; the next recording needs its port. */
async function untilStopped(): Promise<void> {
  const isListening = (): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = connect(port, "127.0.0.1", () => resolve(true)).once("error", () => resolve(false));
      socket.once("close", () => socket.destroy());
      socket.end();
    });
  for (let waitedMs = 0; waitedMs < stopMsMax && (await isListening()); waitedMs += 500) await delay(500);
}

async function record(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "setpoint-beside-"));
  try {
    using session = new Session(started(directory));
    for (const file of readInputs()) {
      writeRecording(file.subject, await session.replay(file));
      console.log(`${file.subject}: ${file.inputs.length} inputs`);
    }
  } finally {
    execFileSync(script, ["stop", directory]);
    await untilStopped();
    rmSync(directory, { recursive: true, force: true });
  }
}

const missing = [script, join(bin, "kube-apiserver"), join(bin, "etcd")].filter((path) => !existsSync(path));
if (missing.length > 0) {
  console.error(`Cannot record: ${missing.join(", ")} is not there; SETPOINT_REFERENCE and BIN name other folders.`);
  process.exitCode = 2;
} else await record();
