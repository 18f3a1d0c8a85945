/** The program in an AppendLog's pods: a server over HTTP, with its data in one file. */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { LogArchiver, openLogArchive } from "@setpoint/data-service/agent";
import { type Logger, sleep } from "@setpoint/host";
import { systemClock, systemLogger } from "@setpoint/host/system";
import { z } from "zod";
import { getText } from "./http-request.ts";
import { appendLogSegments, type LogData, noData, parseLogData } from "./log-data.ts";
import { LogRefusal, LogServer } from "./log-server.ts";

const roundMs = 200;
const newEntry = z.object({ text: z.string(), mark: z.string().optional() });

export function dataFile(folder: string): string {
  return join(folder, "data.json");
}

/** The file is replaced as a whole, so that a kill at any moment leaves the data from before or after. */
export function saveData(folder: string, data: LogData): void {
  writeFileSync(`${dataFile(folder)}.new`, JSON.stringify(data), { flush: true });
  renameSync(`${dataFile(folder)}.new`, dataFile(folder));
}

/** Serves the data of the folder until the process is ended. */
export async function serve(folder: string, port: number): Promise<number> {
  const stop = new AbortController();
  for (const name of ["SIGTERM", "SIGINT"] as const) process.once(name, () => stop.abort());
  const archive = openLogArchive(appendLogSegments);
  const server = new LogServer({
    load: () => (existsSync(dataFile(folder)) ? parseLogData(readFileSync(dataFile(folder), "utf8")) : noData),
    save: (data) => saveData(folder, data),
    copy: async (address, signal) => parseLogData(await getText(`${address}/snapshot`, signal)),
    archiver: archive === undefined ? undefined : new LogArchiver(archive, systemClock),
    clock: systemClock,
  });
  const listener = createServer((request, response) => {
    answer(server, request).then(
      (body) => response.end(JSON.stringify(body)),
      (error: unknown) => response.writeHead(error instanceof LogRefusal ? 409 : 500).end(String(error)),
    );
  });
  listener.listen(port, "0.0.0.0");
  await work(server, systemLogger(), stop.signal);
  listener.close().closeAllConnections();
  return 0;
}

async function work(server: LogServer, log: Logger, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await server.work(signal).catch((error: unknown) => log.warn("Round has failed", { error }));
    await sleep(systemClock, roundMs, signal).catch(() => {});
  }
}

async function answer(server: LogServer, request: IncomingMessage): Promise<unknown> {
  switch (request.url) {
    case "/report":
      return server.report();
    case "/snapshot":
      return server.data;
    case "/append": {
      const { text, mark } = newEntry.parse(await json(request));
      return { position: server.append(text, mark) };
    }
    case "/promote":
      return server.promote(z.object({ timeline: z.int() }).parse(await json(request)).timeline);
    case "/follow":
      return server.follow(z.object({ address: z.string() }).parse(await json(request)).address);
    default:
      throw new LogRefusal(`there is nothing at ${request.url}`);
  }
}
