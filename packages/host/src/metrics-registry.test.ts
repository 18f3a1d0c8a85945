import { createMetrics, systemLogger } from "@setpoint/host/system";
import { metricsWith } from "@setpoint/host";
import { expect, test } from "vitest";

test("metrics are printed in Prometheus' text format", () => {
  const metrics = createMetrics();
  metrics.counter("requests_total", "Requests.").add(2, { code: "200", method: 'G"E\\T\n' });
  metrics.histogram("seconds", "Duration.", [0.1, 1]).observe(0.5);
  expect(metrics.expose()).toBe(`# HELP requests_total Requests.
# TYPE requests_total counter
requests_total{code="200",method="G\\"E\\\\T\\n"} 2
# HELP seconds Duration.
# TYPE seconds histogram
seconds_bucket{le="0.1"} 0
seconds_bucket{le="1"} 1
seconds_bucket{le="+Inf"} 1
seconds_sum 0.5
seconds_count 1
`);
});

test("a registered name is one instrument, and label order does not matter", () => {
  const metrics = createMetrics();
  metrics.counter("n", "").add(1, { a: "1", b: "2" });
  metrics.counter("n", "").add(1, { b: "2", a: "1" });
  expect(metrics.expose()).toContain('n{a="1",b="2"} 2');
});

test("collectors run before the metrics are printed", () => {
  const metrics = createMetrics();
  let depth = 3;
  const stop = metrics.onExpose(() => metrics.gauge("depth", "").set(depth));
  expect(metrics.expose()).toContain("depth 3");
  depth = 5;
  stop();
  expect(metrics.expose()).toContain("depth 3");
});

test("a forgotten series is not printed, and makes room for a new one", () => {
  const metrics = createMetrics();
  const east = metricsWith(metrics, { cluster: "east" });
  for (const told of [east, metricsWith(metrics, { cluster: "east-2" }), metrics]) {
    told.gauge("depth", "").set(1, { controller: "candy", note: 'a,cluster="east",b' });
    told.histogram("seconds", "", [1]).observe(0.5);
  }
  east.forget({});
  const lines = metrics.expose().split("\n");
  expect(lines.filter((line) => line.includes(',cluster="east"') || line.includes('{cluster="east"'))).toEqual([]);
  expect(lines.filter((line) => line.startsWith("depth{"))).toHaveLength(2);
  expect(lines.filter((line) => line.startsWith("seconds_count"))).toHaveLength(2);
  metrics.forget({ controller: "candy" });
  expect(metrics.expose()).not.toContain("depth{");
});

test("the log has one JSON object a line, with the chain of causes", () => {
  const lines: string[] = [];
  const log = systemLogger({ level: "info", write: (line) => void lines.push(line), now: () => 0 }).with({
    controller: "candy",
  });
  log.debug("Hidden");
  log.error("Broke", { error: new Error("outer", { cause: new Error("inner") }) });
  expect(lines.length).toBe(1);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    time: "1970-01-01T00:00:00.000Z",
    level: "error",
    message: "Broke",
    controller: "candy",
    error: { message: "outer", cause: { message: "inner" } },
  });
});
