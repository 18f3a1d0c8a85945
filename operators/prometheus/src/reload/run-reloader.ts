/** The program `reload`: the sidecar of a server. */
import { createServer, type Server } from "node:http";
import { parseArgs } from "node:util";
import { sleep, timestamp } from "@setpoint/host";
import { systemClock } from "@setpoint/host/system";
import { loadedPath, poolPath } from "./loaded-path.ts";
import { requestPool } from "./pool-report.ts";
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
  const server = serve(pagesOf(reloader, values["reload-url"], stop.signal), values.listen);
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

/** The value of a page, as JSON; undefined when there is no such page. */
type Pages = (path: string, query: URLSearchParams) => Promise<object> | undefined;

function pagesOf(reloader: Reloader, reloadUrl: string, stop: AbortSignal): Pages {
  return (path, query) => {
    if (path === loadedPath) return Promise.resolve(reloader.report);
    const pool = query.get("pool");
    return path === poolPath && pool !== null ? requestPool(reloadUrl, pool, stop) : undefined;
  };
}

function serve(pages: Pages, listen: string): Server {
  const server = createServer((request, response) => {
    const send = (status: number, value: object): void => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(value));
    };
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://reloader");
    const page = pages(pathname, searchParams);
    if (page === undefined) return send(404, { error: "no such path" });
    page.then(
      (value) => send(200, value),
      (error: unknown) => send(502, { error: error instanceof Error ? error.message : String(error) }),
    );
  });
  const colon = listen.lastIndexOf(":");
  const host = listen.slice(0, colon);
  server.listen({ port: Number(listen.slice(colon + 1)), ...(host === "" ? {} : { host }) });
  return server;
}
