/**
 * The first process of the genuine cluster's namespaces: measures it from within its network.
 * `reference-session.ts SCRIPT BIN DIR PODS IDLE_SECONDS RESULT_FILE`
 */
import { join } from "node:path";
import { runSession } from "../../e2e/cluster/session-parts.ts";
import type { MeasurementOrder } from "./measurement.ts";

const measureScript = new URL("measure.ts", import.meta.url).pathname;

await runSession(process.argv.slice(2), async (cluster, directory, signal) => {
  const [pods, idleSeconds, resultFile = ""] = process.argv.slice(5);
  const order: MeasurementOrder = {
    kubeconfig: join(directory, "kubeconfig"),
    pods: Number(pods),
    idleSeconds: Number(idleSeconds),
    processes: { kind: "namespace" },
    resultFile,
  };
  const command = [process.execPath, "--conditions=@setpoint/source", measureScript, JSON.stringify(order)];
  return (await cluster.exec(command, signal)) === 0;
});
