/** Serves the metrics of an instance over HTTP, without a login: they have nothing secret. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { metricsPort } from "../../kind/names.ts";
import { close, listen } from "../json-server.ts";
import { expositionText } from "./exposition.ts";
import type { Monitor } from "./monitor.ts";

export async function serveMetrics(monitor: Pick<Monitor, "samples">): Promise<AsyncDisposable> {
  const server = createServer((request, response) => void give(monitor, request, response));
  await listen(server, metricsPort);
  return { [Symbol.asyncDispose]: () => close(server) };
}

async function give(
  monitor: Pick<Monitor, "samples">,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const isKnown = request.method === "GET" && request.url?.split("?")[0] === "/metrics";
  // What went wrong may have a part of a statement in it.
  const text = isKnown ? await monitor.samples().then(expositionText, () => undefined) : undefined;
  const status = isKnown ? (text === undefined ? 503 : 200) : 404;
  response.writeHead(status, { "content-type": "text/plain; version=0.0.4; charset=utf-8" });
  response.end(text ?? "There are metrics at /metrics\n");
}
