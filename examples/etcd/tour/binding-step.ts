/** The step of the tour that binds an application to a cluster which asks for logins. */
import { EtcdCluster } from "@setpoint/etcd-operator";
import { bind, boundClient, revoke } from "./bindings.ts";
import { type ClusterUnderTour, TourError } from "./cluster-under-tour.ts";
import { etcdClient } from "./etcd-client.ts";
import { copyOf } from "./recovery-steps.ts";
import type { TourStep } from "./steps.ts";

const binding = "tour-shop";
const prefix = "/shop/";
const endMsMax = 90_000;

/** It uses the copy: the client of the ledger has no login. */
export const useBinding: TourStep = {
  name: "bind an application to a cluster that asks for logins",
  async run(cluster) {
    const copy = copyOf(cluster);
    await askForLogins(copy);
    await bind(copy, binding, { rights: { [prefix]: "readwrite" } });
    const application = await boundClient(copy, binding);
    try {
      await application.put(`${prefix}order`, "1");
      if ((await application.get(`${prefix}order`)) !== "1")
        throw new TourError("the application's write is not there");
      await expectRefusal("permission denied", () => application.put("/other", "1"));
      await expectRefusal("user name is empty", () => putWithoutLogin(copy));
      const revokedMs = await revoke(copy, binding, application, `${prefix}order`);
      return `writes below ${prefix}, refused elsewhere and without a login; revoked after ${(revokedMs / 1_000).toFixed(1)} s`;
    } finally {
      application.close();
    }
  },
};

async function askForLogins(cluster: ClusterUnderTour): Promise<void> {
  const { client, name, namespace } = cluster;
  await client.patch(EtcdCluster, { name, namespace }, { spec: { auth: { enabled: true } } });
  await cluster.until("authentication", async () => (await cluster.get()).status?.auth !== undefined, endMsMax);
}

async function putWithoutLogin(cluster: ClusterUnderTour): Promise<void> {
  const anonymous = etcdClient(await cluster.clientEndpoint(), 5_000);
  await anonymous.put(`${prefix}order`, "2").finally(() => anonymous.close());
}

async function expectRefusal(words: string, call: () => Promise<void>): Promise<void> {
  const problem = await call().then(
    () => "it was accepted",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  if (!problem.includes(words)) throw new TourError(`etcd should refuse with "${words}": ${problem}`);
}
