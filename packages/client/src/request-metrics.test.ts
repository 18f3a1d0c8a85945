import type { Transport } from "@setpoint/apimachinery";
import { simulatedHost } from "@setpoint/host/simulated";
import { sleep } from "@setpoint/host";
import { expect, test } from "vitest";
import { RetryingSender } from "./retry.ts";

test("requests are counted and timed under client-go's names, also those without an answer and those sent again", async () => {
  const host = simulatedHost(1);
  let isBusy = true;
  const transport: Transport = {
    async send({ path }) {
      await sleep(host.clock, 200);
      if (path === "/broken") throw new Error("the connection broke");
      const status = path === "/busy" && isBusy ? 429 : 200;
      isBusy &&= status === 200;
      return { kind: "object", status, headers: {}, object: {} };
    },
    sendRaw: async () => ({ kind: "object", status: 404, headers: {}, object: {} }),
  };
  const sender = new RetryingSender(transport, host);
  const sent = Promise.allSettled([
    sender.send({ method: "GET", path: "/" }),
    sender.send({ method: "PUT", path: "/broken" }),
    sender.sendRaw({ method: "GET", path: "/list" }),
    sender.send({ method: "POST", path: "/busy" }),
  ]);
  await host.clock.run(10_000);
  await sent;
  const text = host.metrics.expose();
  expect(text).toContain('rest_client_requests_total{code="200",method="GET"} 1');
  expect(text).toContain('rest_client_requests_total{code="404",method="GET"} 1');
  expect(text).toContain('rest_client_requests_total{code="<error>",method="PUT"} 1');
  expect(text).toContain('rest_client_requests_total{code="429",method="POST"} 1');
  expect(text).toContain('rest_client_requests_total{code="200",method="POST"} 1');
  expect(text).toContain('rest_client_request_retries_total{code="429",verb="POST"} 1');
  expect(text).toContain('rest_client_request_duration_seconds_bucket{verb="GET",le="0.25"} 2');
  expect(text).toContain('rest_client_request_duration_seconds_bucket{verb="GET",le="0.1"} 1');
});
