/** The program in etcd's transfer pods. */
import { runAgent } from "@setpoint/data-service/agent";
import { etcdAgent } from "./etcd-agent.ts";
import { etcdValues } from "./etcd-values.ts";

/** Resolves with the exit code. */
export function runEtcdAgent(): Promise<number> {
  return runAgent({ etcd: { ...etcdAgent, values: etcdValues } });
}
