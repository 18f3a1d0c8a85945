/**
 * From nothing to a served request: in a process whose modules are loaded, in a new process, and over HTTPS
 * with new keys.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { httpTransport } from "@setpoint/client/node";
import type { ControlPlaneOptions } from "@setpoint/controlplane";
import { repeat, report, timed } from "./report.ts";
import { host, start } from "./workload.ts";

const request = { method: "GET", path: "/api/v1/namespaces/default" } as const;

/** Milliseconds until the first answer; then it is stopped. */
async function untilAnswer(options: ControlPlaneOptions = {}): Promise<number> {
  const from = performance.now();
  await using plane = await start(options);
  await plane.transport.send(request);
  return performance.now() - from;
}

async function untilAnswerOverHttps(): Promise<number> {
  const from = performance.now();
  await using plane = await start({ https: {} });
  const { certificate, key } = plane.issueClient("admin", ["system:masters"]);
  await using transport = httpTransport({
    server: plane.url ?? "",
    clock: host.clock,
    ca: plane.caPem,
    cert: certificate,
    key,
  });
  const { status } = await transport.send(request);
  if (status !== 200) throw new Error(`answered ${status}`);
  return performance.now() - from;
}

if (process.argv[2] === "first") {
  console.log(await (process.argv[3] === "https" ? untilAnswerOverHttps() : untilAnswer()));
} else {
  const first = (how: string): number => {
    const file = fileURLToPath(import.meta.url);
    const { stdout } = spawnSync(process.execPath, ["--conditions=@setpoint/source", file, "first", how], {
      encoding: "utf8",
    });
    return Number(stdout);
  };
  await repeat(5, () => untilAnswer());
  report({
    what: "start, memory, controllers in sync",
    unit: "ms",
    samples: await repeat(41, () => untilAnswer()),
    goal: "≤ 20 ms",
  });
  report({
    what: "  without controllers",
    unit: "ms",
    samples: await repeat(41, () => untilAnswer({ controllers: false })),
  });
  const directory = mkdtempSync(join(tmpdir(), "setpoint-bench-"));
  const again = { directory: join(directory, "again") };
  report({
    what: "  with an existing data directory",
    unit: "ms",
    samples: await repeat(21, () => untilAnswer(again)),
  });
  rmSync(directory, { recursive: true });
  report({
    what: "start over HTTPS, new keys, first request answered",
    unit: "ms",
    samples: await repeat(41, () => untilAnswerOverHttps()),
    goal: "≤ 100 ms",
  });
  report({
    what: "first start of a process, modules loaded",
    unit: "ms",
    samples: await repeat(7, () => first("memory")),
  });
  report({ what: "  over HTTPS", unit: "ms", samples: await repeat(7, () => first("https")) });
  report({
    what: "  a bare Node process, for comparison",
    unit: "ms",
    samples: await repeat(7, () => timed(() => spawnSync(process.execPath, ["-e", "0"]))),
  });
}
