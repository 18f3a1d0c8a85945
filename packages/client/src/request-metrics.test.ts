import type { Transport } from "@setpoint/apimachinery";
import { simulatedHost } from "@setpoint/host/simulated";
import { sleep } from "@setpoint/host";
import { expect, test } from "vitest";
import { countingTransport } from "./request-metrics.ts";

test("requests are counted and timed under client-go's names, also those without an answer", async () => {
  const host = simulatedHost(1);
  const inner: Transport = {
    async send({ path }) {
      await sleep(host.clock, 200);
      if (path === "/broken") throw new Error("the connection broke");
      return { kind: "object", status: 200, headers: {}, object: {} };
    },
    sendRaw: async () => ({ kind: "object", status: 404, headers: {}, object: {} }),
  };
  const transport = countingTransport(inner, host.metrics, host.clock);
  const sent = Promise.all([
    transport.send({ method: "GET", path: "/" }),
    transport.send({ method: "PUT", path: "/broken" }).catch(() => undefined),
    transport.sendRaw?.({ method: "GET", path: "/list" }),
  ]);
  await host.clock.run(1_000);
  await sent;
  const text = host.metrics.expose();
  expect(text).toContain('rest_client_requests_total{code="200",method="GET"} 1');
  expect(text).toContain('rest_client_requests_total{code="404",method="GET"} 1');
  expect(text).toContain('rest_client_requests_total{code="<error>",method="PUT"} 1');
  expect(text).toContain('rest_client_request_duration_seconds_bucket{verb="GET",le="0.25"} 2');
  expect(text).toContain('rest_client_request_duration_seconds_bucket{verb="GET",le="0.1"} 1');
});
