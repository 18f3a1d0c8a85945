/**
 * Measures a schedule of the simulated world without the operator of etcd: ten Widgets and a Deployment of
 * three pods are created and changed, and a pod is deleted. It uses only what older trees have too, so a copy
 * of this file compares them. The figures are CPU time of this process.
 * Run: node --conditions=@setpoint/source bench/widget-schedule.ts [schedules]
 */
import { Deployment, Pod } from "@setpoint/api";
import { simulate } from "@setpoint/testing";
import { Widget, widgetOperator } from "./widget-operator/widget.ts";

const schedules = Number(process.argv[2] ?? "300");
const warmUps = 300;
const widgets = 10;
const spec = {
  value: 1,
  name: "widget",
  labels: { team: "a" },
  items: [{ id: 1, key: "k", text: "t", enabled: true }],
};

/** Returns the requests. */
async function runSchedule(seed: number, controllers: "all" | "observed"): Promise<number> {
  await using world = await simulate({ seed, controllers, operators: [widgetOperator("full")] });
  for (let index = 0; index < widgets; index++) await world.apply(Widget({ name: `w${index}`, spec }));
  const labels = { app: "web" };
  const template = { metadata: { labels }, spec: { containers: [{ name: "web", image: "web:1" }] } };
  await world.apply(
    Deployment({
      name: "web",
      namespace: "default",
      spec: { replicas: 3, selector: { matchLabels: labels }, template },
    }),
  );
  await world.settled();
  for (let index = 0; index < widgets; index++) await world.patch(Widget, `w${index}`, { spec: { value: 2 } });
  const [pod] = await world.list(Pod);
  if (pod !== undefined) await world.delete(Pod, pod.metadata.name ?? "");
  await world.settled();
  return world.trace.length;
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

for (const controllers of ["observed", "all"] as const) {
  for (let seed = 0; seed < warmUps; seed++) await runSchedule(seed, controllers);
  const cpu: number[] = [];
  let requests = 0;
  for (let seed = warmUps; seed < warmUps + schedules; seed++) {
    const beforeMs = cpuMs();
    requests = await runSchedule(seed, controllers);
    cpu.push(cpuMs() - beforeMs);
  }
  const median = cpu.toSorted((a, b) => a - b)[Math.floor(cpu.length / 2)] ?? 0;
  console.log(
    `${controllers} controllers: CPU median ${median.toFixed(1)} ms, ${requests} requests in the last schedule`,
  );
}
