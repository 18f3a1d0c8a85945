/** The program in a mirror's pod. It runs until it is stopped. */
import { existsSync } from "node:fs";
import { concealingLogger, folderConcealment } from "@setpoint/data-service/agent";
import { systemClock, systemLogger } from "@setpoint/host/system";
import { type EndOptions, httpEnd } from "./http-end.ts";
import { bytesOf } from "./key-range.ts";
import { runMirrorLoop } from "./mirror-loop.ts";
import { mirrorPaths, mirrorRequest, mirrorRequestVariable } from "./mirror-request.ts";

/** Resolves with the exit code. */
export async function runMirror(): Promise<number> {
  // Read at each use, because Secrets are rotated while this runs.
  const conceal = (text: string): string => folderConcealment(Object.values(mirrorPaths))(text);
  const request = mirrorRequest.parse(JSON.parse(process.env[mirrorRequestVariable] ?? "null"));
  const controller = new AbortController();
  for (const name of ["SIGTERM", "SIGINT"] as const) process.once(name, () => controller.abort());
  const { source, destination, prefix, destinationPrefix, ...rest } = request;
  const mapping = { source: bytesOf(prefix), destination: bytesOf(destinationPrefix) };
  await runMirrorLoop({
    ...rest,
    connect: (signal) => ({
      source: end("Source", source, mapping.source, signal),
      destination: end("Destination", destination, mapping.destination, signal),
    }),
    mapping,
    clock: systemClock,
    log: concealingLogger(systemLogger(), conceal),
    conceal,
    signal: controller.signal,
  });
  return 0;
}

function end(
  side: EndOptions["side"],
  endpoints: readonly string[],
  prefix: string,
  signal: AbortSignal,
): ReturnType<typeof httpEnd> {
  const folder = mirrorPaths[side === "Source" ? "source" : "destination"];
  return httpEnd({ side, endpoints, prefix, secretFolder: existsSync(folder) ? folder : undefined, signal });
}
