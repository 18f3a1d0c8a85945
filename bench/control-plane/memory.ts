/**
 * What a control plane costs a process in memory, at rest and after many writes: the heap after garbage
 * collection.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { repeat, report } from "./report.ts";

const writes = 100_000;

async function measureHere(): Promise<readonly number[]> {
  const { measureUpdates, start } = await import("./workload.ts");
  const settled = async (): Promise<NodeJS.MemoryUsage> => {
    await new Promise((resolve) => setTimeout(resolve, 50));
    globalThis.gc?.();
    return process.memoryUsage();
  };
  const before = await settled();
  await using plane = await start({});
  const atRest = await settled();
  const history: number[] = [];
  for (let round = 0; round < 4; round++) {
    await measureUpdates(plane.transport, writes, 50);
    history.push((await settled()).heapUsed - before.heapUsed);
  }
  const [filled = 0, , , last = 0] = history;
  return [atRest.heapUsed - before.heapUsed, atRest.rss - before.rss, filled, last - filled];
}

if (process.argv[2] === "here") console.log(JSON.stringify(await measureHere()));
else {
  const file = fileURLToPath(import.meta.url);
  const results = await repeat(3, () => {
    const { stdout } = spawnSync(process.execPath, ["--expose-gc", "--conditions=@setpoint/source", file, "here"], {
      encoding: "utf8",
    });
    return (JSON.parse(stdout) as number[]).map((bytes) => bytes / 1e6);
  });
  const rows = [
    "heap of a control plane at rest",
    "  resident memory of its start",
    `heap after ${writes} updates of 100 objects (full history)`,
    `  growth over ${writes * 3} more`,
  ];
  for (const [index, what] of rows.entries()) {
    report({
      what,
      unit: "MB",
      samples: results.map((each) => each[index] ?? NaN),
      ...(index === 0 ? { goal: "≤ 15 MB" } : {}),
    });
  }
}
