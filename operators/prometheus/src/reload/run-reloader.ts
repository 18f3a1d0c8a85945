/** The program `reload`: the sidecar of a server. */
import { createServer, type Server } from "node:http";
import { parseArgs } from "node:util";
import { sleep, timestamp } from "@setpoint/host";
import { systemClock } from "@setpoint/host/system";
import { loadedPath } from "./loaded-path.ts";
import { Reloader } from "./reloader.ts";
import { readSources, writeConfiguration } from "./reloader-files.ts";
import { requestReload } from "./reload-request.ts";

/** Mounted files change by themselves, and looking at them costs next to nothing. */
const lookEveryMs = 1_000;

export async function runReloader(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      config: { type: "string", default: "" },
      output: { type: "string", default: "" },
      rules: { type: "string", multiple: true, default: [] },
      watch: { type: "string", multiple: true, default: [] },
      once: { type: "boolean", default: false },
      "reload-url": { type: "string", default: "" },
      listen: { type: "string", default: "" },
    },
  });
  const reloader = new Reloader({
    read: () => readSources(values.config, { rules: values.rules, watched: values.watch }),
    write: (text) => writeConfiguration(values.output, text),
    reload: (signal) => requestReload(values["reload-url"], signal),
    variables: process.env,
    now: () => timestamp(systemClock),
  });
  const stop = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => stop.abort());
  if (values.once) return writeFirst(reloader, stop.signal);
  const server = serve(reloader, values.listen);
  while (!stop.signal.aborted) {
    await reloader.step(stop.signal);
    await pause(stop.signal);
  }
  server.close();
  server.closeAllConnections();
  return 0;
}

/** The pod waits until there is a configuration. */
async function writeFirst(reloader: Reloader, signal: AbortSignal): Promise<number> {
  while (!signal.aborted && !(await reloader.writeOnce())) await pause(signal);
  return 0;
}

async function pause(signal: AbortSignal): Promise<void> {
  await sleep(systemClock, lookEveryMs, signal).catch(() => undefined);
}

function serve(reloader: Reloader, listen: string): Server {
  const server = createServer((request, response) => {
    const isKnown = request.url === loadedPath;
    response.writeHead(isKnown ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(isKnown ? reloader.report : { error: "no such path" }));
  });
  const colon = listen.lastIndexOf(":");
  const host = listen.slice(0, colon);
  server.listen({ port: Number(listen.slice(colon + 1)), ...(host === "" ? {} : { host }) });
  return server;
}
