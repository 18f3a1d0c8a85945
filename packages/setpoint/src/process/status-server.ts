/** Health and metrics of a manager over HTTP, for the kubelet's probes and for Prometheus. */
import { createServer, type ServerResponse } from "node:http";
import type { HealthReport, Manager } from "@setpoint/runtime";

/** Answers /healthz, /readyz and /metrics; resolves when it listens. */
export async function serveStatus(manager: Manager, address: string, port: number): Promise<AsyncDisposable> {
  const server = createServer((request, response) => {
    if (request.url === "/healthz") return answerHealth(response, manager.healthz());
    if (request.url === "/readyz") return answerHealth(response, manager.readyz());
    if (request.url === "/metrics") return answer(response, 200, manager.metrics(), "text/plain; version=0.0.4");
    answer(response, 404, "404 page not found\n", "text/plain");
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, address, resolve);
  });
  return {
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answerHealth(response: ServerResponse, { ok, checks }: HealthReport): void {
  const lines = checks.map((check) => `[${check.ok ? "+" : "-"}]${check.name} ${check.message}`);
  answer(response, ok ? 200 : 500, `${lines.join("\n")}\n`, "text/plain");
}

function answer(response: ServerResponse, status: number, text: string, type: string): void {
  response
    .writeHead(status, { "content-type": `${type}; charset=utf-8`, "x-content-type-options": "nosniff" })
    .end(text);
}
