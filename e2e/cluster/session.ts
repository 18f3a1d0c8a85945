/**
 * The first process of a namespace of its own: brings a cluster up, gives it the images and runs the tour in
 * its network. `session.ts SCRIPT BIN DIR OPERATOR`
 */
import type { RealCluster } from "./real-cluster.ts";
import { runSession } from "./session-parts.ts";

const [operator = "etcd"] = process.argv.slice(5);
const tours: Readonly<Record<string, string>> = {
  etcd: "tour.ts",
  postgres: "postgres-tour.ts",
  prometheus: "prometheus-tour.ts",
  "compliance-probe": "compliance-tour.ts",
};
const tourScript = new URL(tours[operator] ?? "tour.ts", import.meta.url).pathname;

/** What a person wants to see first when the tour fails. */
async function describe(cluster: RealCluster, signal: AbortSignal): Promise<void> {
  await cluster.kubectl(["get", "pods,persistentvolumeclaims", "-A", "-o", "wide"], signal);
  const kind =
    {
      etcd: "etcdclusters",
      postgres: "postgresclusters",
      prometheus: "prometheuses,alertmanagers",
      "compliance-probe": "complianceprobes",
    }[operator] ?? "pods";
  await cluster.kubectl(
    ["get", kind, "-A", "-o", "jsonpath={range .items[*]}{.metadata.name}: {.status}{'\\n'}{end}"],
    signal,
  );
  await cluster.kubectl(["get", "events", "-A", "--field-selector=type!=Normal"], signal);
  await cluster.kubectl(["logs", "-n", "setpoint-system", `deployment/${operator}-operator`, "--tail=400"], signal);
}

await runSession(process.argv.slice(2), async (cluster, directory, signal) => {
  const command = [process.execPath, "--conditions=@setpoint/source", tourScript, directory];
  const holds = (await cluster.exec(command, signal)) === 0;
  if (!holds && !signal.aborted) await describe(cluster, signal);
  return holds;
});
