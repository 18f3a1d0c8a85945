import { expect, test } from "vitest";
import { instanceMetrics } from "../../instance/instance-metrics.ts";
import { expositionText, parseSamples } from "./exposition.ts";
import { metricsQuery } from "./metrics-query.ts";

test("samples stand below the help and the type of their metric, with labels escaped", () => {
  const rows = [
    'postgres_backends\t{"database" : "a\\"b\\\\c", "state" : "idle"}\t3',
    "postgres_connections_max\t{}\t100",
    'postgres_backends\t{"database" : "app", "state" : "active"}\t1',
    "",
  ].join("\n");
  expect(expositionText(parseSamples(rows))).toBe(
    [
      "# HELP postgres_connections_max The setting max_connections.",
      "# TYPE postgres_connections_max gauge",
      "postgres_connections_max 100",
      "# HELP postgres_backends Connections of clients, by database and state.",
      "# TYPE postgres_backends gauge",
      String.raw`postgres_backends{database="a\"b\\c",state="idle"} 3`,
      'postgres_backends{database="app",state="active"} 1',
      "",
    ].join("\n"),
  );
});

test.each([
  [15, /checkpoints_timed.*pg_stat_bgwriter/],
  [17, /num_timed.*pg_stat_checkpointer/],
])("PostgreSQL %d is asked for its checkpoints where it has them", (major, expected) => {
  expect(metricsQuery(major)).toMatch(expected);
});

test("no statement and no user is asked for", () => {
  expect(metricsQuery(17)).not.toMatch(/\b(query|usename|rolname|client_addr|backend_start)\b/);
});

test("names of counters end as Prometheus asks", () => {
  const counters = Object.entries(instanceMetrics).filter(([, { type }]) => type === "counter");
  for (const [name] of counters) expect(name).toMatch(/_(total|position_bytes)$/);
});
