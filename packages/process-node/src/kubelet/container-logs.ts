/** `GET /containerLogs/{namespace}/{pod}/{container}`. */
import type { ServerResponse } from "node:http";
import type { Clock } from "@setpoint/host";
import { logFile } from "../logs/container-log.ts";
import { type LogOptions, readLog } from "../logs/log-reader.ts";
import type { PodWorker } from "../workers/pod-worker.ts";
import { answer } from "./answers.ts";

export interface ContainerLogsRequest {
  readonly clock: Clock;
  readonly pod: PodWorker | undefined;
  readonly podDirectory: (podUid: string) => string;
  /** namespace, pod, container */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

/** Resolves when all that was asked for is written, or the client is gone. */
export async function serveContainerLogs(request: ContainerLogsRequest, response: ServerResponse): Promise<void> {
  const { clock, pod, path, query } = request;
  const [, name = "", container = ""] = path;
  const worker = pod?.container(container);
  if (pod === undefined || worker === undefined)
    return answer(response, 404, `pod ${name} does not have container ${container} on this node`);
  const attempt = worker.attempt - (query.get("previous") === "true" ? 1 : 0);
  const hasStarted =
    worker.running !== undefined || worker.status().lastState.terminated !== undefined || worker.exitCode !== undefined;
  if (attempt < 0)
    return answer(response, 400, `previous terminated container "${container}" in pod "${name}" not found`);
  if (!hasStarted) {
    const reason = worker.status().state.waiting?.reason ?? "ContainerCreating";
    return answer(response, 400, `container "${container}" in pod "${name}" is waiting to start: ${reason}`);
  }
  const abort = new AbortController();
  response.once("close", () => abort.abort(new Error("the client is gone")));
  response.writeHead(200, { "content-type": "text/plain" });
  response.flushHeaders();
  const file = logFile(request.podDirectory(pod.uid), container, attempt);
  const isOver = (): boolean => pod.isDone || worker.attempt !== attempt || worker.running === undefined;
  for await (const text of readLog(clock, file, logOptions(clock, query), isOver, abort.signal)) {
    if (!response.write(text)) await drained(response);
  }
  response.end();
}

function logOptions(clock: Clock, query: URLSearchParams): LogOptions {
  const number = (name: string): number | undefined => (query.has(name) ? Number(query.get(name)) : undefined);
  const [tailLines, sinceSeconds, limitBytes] = [number("tailLines"), number("sinceSeconds"), number("limitBytes")];
  const sinceTime = query.get("sinceTime");
  const sinceMs =
    sinceTime !== null
      ? Date.parse(sinceTime)
      : sinceSeconds === undefined
        ? undefined
        : clock.now() - sinceSeconds * 1_000;
  return {
    follow: query.get("follow") === "true",
    timestamps: query.get("timestamps") === "true",
    ...(tailLines === undefined ? {} : { tailLines }),
    ...(sinceMs === undefined ? {} : { sinceMs }),
    ...(limitBytes === undefined ? {} : { limitBytes }),
  };
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    response.once("drain", resolve);
    response.once("close", resolve);
  });
}
