/** A control plane that has nothing to do: requests that its controllers send, and processor time. */
import { createMetrics } from "@setpoint/host/system";
import { repeat, report } from "./report.ts";
import { host, start } from "./workload.ts";

const secondsOfRest = 5;
const metrics = createMetrics();
await using plane = await start({ host: { ...host, metrics } });
await new Promise((resolve) => setTimeout(resolve, 1_000));

const requests = (): number =>
  [...metrics.expose().matchAll(/^[a-z_]*requests_total\S* (\d+)/gm)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );
const before = requests();
const samples = await repeat(3, async () => {
  const cpu = process.cpuUsage();
  await new Promise((resolve) => setTimeout(resolve, secondsOfRest * 1_000));
  const { user, system } = process.cpuUsage(cpu);
  return (user + system) / (secondsOfRest * 10_000);
});
report({ what: "at rest, processor", unit: "%", samples });
report({
  what: `at rest, requests in ${secondsOfRest * 3} s (of ${before} since the start)`,
  unit: "",
  samples: [requests() - before],
});
const { status } = await plane.transport.send({ method: "GET", path: "/readyz" });
if (status !== 200) throw new Error(`readyz answered ${status}`);
