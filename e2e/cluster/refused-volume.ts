/** A cluster on a volume that only root may write to: what it says about that, and how it goes on. */
import { EventsV1Event as Event } from "@setpoint/api";
import type { Client } from "@setpoint/client";
import { EtcdCluster } from "@setpoint/etcd-operator";
import { deleteCluster } from "../../examples/etcd/tour/steps.ts";
import { ClusterUnderTour } from "../../examples/etcd/tour/cluster-under-tour.ts";
import { createRefusedVolume, giveToMembers, refusedClass } from "./volumes.ts";
import { askWhy } from "./operator-metrics.ts";

const name = "refused";
const saidMsMax = 60_000;
/** Its operator makes longer and longer pauses between two starts. */
const runningMsMax = 120_000;
const sentence =
  /user 65532 may not write to volume "data" \(claim "data-refused-\w+"\).*give its folder to that user \(chown 65532:65532\)/;
const again = /pods failed [2-9] times in a row; the next start is not before /;

/** Throws when the status, an Event or `why` does not name the volume, the user and what to do. */
export async function checkRefusedVolume(tour: ClusterUnderTour, directory: string): Promise<string> {
  const { client, namespace } = tour;
  const folder = await createRefusedVolume(client, directory);
  const storage = { storageClassName: refusedClass, resources: { requests: { storage: "512Mi" } } };
  const spec = { size: 1 as const, version: "3.5.16", volumeClaimTemplate: storage };
  await client.create(EtcdCluster, EtcdCluster({ name, namespace, spec }));
  const cluster = tour.beside(name);
  await cluster.until("a condition with the reason", async () => sentence.test(await conditionsOf(cluster)), saidMsMax);
  const backsOff = async (): Promise<boolean> => again.test(await conditionsOf(cluster));
  await cluster.until("a second failure with its next try", backsOff, saidMsMax);
  await cluster.until("an Event with the reason", async () => sentence.test(await eventsOf(client, namespace)));
  const why = await askWhy(client, cluster.operator.namespace, { kind: "EtcdCluster", name, namespace });
  if (!sentence.test(why)) throw new Error(`The operator does not say why: ${why}`);
  giveToMembers(folder);
  const tookMs = await cluster.until("the start on the volume", () => cluster.isSettled(1), runningMsMax);
  await deleteCluster(cluster);
  return `told by the status, an Event and why; it runs ${(tookMs / 1_000).toFixed(1)} s after the chown that they ask for`;
}

async function conditionsOf(cluster: ClusterUnderTour): Promise<string> {
  return JSON.stringify((await cluster.get()).status?.conditions ?? []).replaceAll('\\"', '"');
}

async function eventsOf(client: Client, namespace: string): Promise<string> {
  const fieldSelector = `regarding.kind=EtcdCluster,regarding.name=${name}`;
  const { items } = await client.listAll(Event, { namespace, fieldSelector });
  return items.map(({ note }) => note ?? "").join("\n");
}
