/** `npm start` ends by `kill -9` and is not started again. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sleep } from "@setpoint/host";
import { systemHost } from "@setpoint/host/system";
import { expect, test } from "vitest";
import { etcdClient, type EtcdEndpoint } from "../examples/etcd/tour/etcd-client.ts";
import { connectTo, remains, started, temporaryFolder } from "./restart/started-cluster.ts";

const host = systemHost();

/** Whether a write is acknowledged; each try has a connection of its own. */
async function isWritten(endpoint: EtcdEndpoint): Promise<boolean> {
  const etcd = etcdClient(endpoint, 5_000);
  try {
    await etcd.put("greeting", "still here");
    return true;
  } catch {
    return false;
  } finally {
    etcd.close();
  }
}

test("after a kill of the main process that nobody starts again, members go on for a minute, and then nothing is left", async () => {
  const directory = temporaryFolder();
  const first = started(directory);
  await first.untilReady();
  let endpoint: EtcdEndpoint;
  {
    await using connection = connectTo(directory);
    endpoint = await connection.cluster.clientEndpoint();
  }
  const { pid: network } = JSON.parse(readFileSync(join(directory, "network-namespace.json"), "utf8")) as {
    pid: number;
  };
  // The agent may learn of the Service's endpoints a moment after the cluster reports that it is ready; after
  // the kill it learns nothing.
  await expect.poll(() => isWritten(endpoint), { timeout: 20_000, interval: 500 }).toBe(true);
  await first.kill();
  await sleep(host.clock, 20_000);
  // A leader that is elected at this moment is not an end of the members.
  await expect.poll(() => isWritten(endpoint), { timeout: 20_000, interval: 500 }).toBe(true);
  // The rest of the minute, and the time that pods may take to end.
  await expect.poll(() => remains(directory), { timeout: 80_000, interval: 1_000 }).toEqual([]);
  // The agent ends it after its pods.
  await expect.poll(() => existsSync(`/proc/${network}`), { timeout: 20_000 }).toBe(false);
});
