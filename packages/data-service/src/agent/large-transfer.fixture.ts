/**
 * A transfer program whose engine makes its data as they are read:
 * `node large-transfer.fixture.ts FOLDER MEBIBYTES TASK`. Prints its largest resident size in MiB.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sleep } from "@setpoint/host";
import { systemClock } from "@setpoint/host/system";
import { type EngineAgent, InvalidSnapshotError } from "../engine/agent.ts";
import { agentPaths, requestVariable } from "./request.ts";
import { runAgent } from "./run-agent.ts";

const [folder = "", mebibytes = "1", task = "backup", pauseMs = "0"] = process.argv.slice(2);
const pieceBytes = 65_536;

const endless: EngineAgent = {
  async snapshot({ signal }) {
    async function* pieces(): AsyncGenerator<Uint8Array> {
      const block = Buffer.alloc(pieceBytes, 5);
      for (let index = 0; index < Number(mebibytes) * 16; index++) {
        block.writeUInt32BE(index);
        yield Buffer.from(block);
        if (Number(pauseMs) > 0) await sleep(systemClock, Number(pauseMs), signal);
      }
    }
    return { data: pieces(), facts: Promise.resolve({ engineVersion: "1", position: "1" }) };
  },
  async verify(data) {
    let dataBytes = 0;
    const hash = createHash("sha256");
    for await (const piece of data) {
      dataBytes += piece.length;
      hash.update(piece);
    }
    if (dataBytes !== Number(mebibytes) * (1 << 20)) throw new InvalidSnapshotError("it is cut off");
    return { dataBytes };
  },
};

const store = { place: { type: "folder", folder: join(folder, "store") }, prefix: "", activeKey: "2026" };
const names = Object.keys(agentPaths) as (keyof typeof agentPaths)[];
const exitCode = await runAgent(
  { endless },
  {
    environment: { [requestVariable]: JSON.stringify({ task, engine: "endless", store, object: "large", source: {} }) },
    paths: Object.fromEntries(names.map((name) => [name, join(folder, name)])) as Record<
      keyof typeof agentPaths,
      string
    >,
    terminationLog: join(folder, "result"),
  },
);
process.stdout.write(`${peakMebibytes()}\n`);
process.exit(exitCode);

/** Not `maxRSS`: that begins with the size of the process that started this one. */
function peakMebibytes(): number {
  const [, kibibytes = "0"] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
  return Math.round(Number(kibibytes) / 1_024);
}
