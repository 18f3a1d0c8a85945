/** ServiceBindings of a cluster as a user makes them, and an application that uses one. */
import { ServiceBinding } from "@setpoint/data-service";
import { Secret } from "setpoint/kinds";
import { instanceOf } from "./backups.ts";
import { BoundClient } from "./bound-client.ts";
import type { ClusterUnderTour } from "./cluster-under-tour.ts";

const endMsMax = 90_000;

type BindingSpec = Omit<ServiceBinding["spec"], "instance">;

/** Resolves when the Secret of the new ServiceBinding has a login. */
export async function bind(cluster: ClusterUnderTour, name: string, spec: Partial<BindingSpec>): Promise<void> {
  const { client, namespace } = cluster;
  const instance = instanceOf(cluster);
  await client.create(ServiceBinding, ServiceBinding({ name, namespace, spec: { instance, ...spec } }));
  const isReady = async (): Promise<boolean> => {
    const { status } = await client.get(ServiceBinding, { name, namespace });
    return (status?.conditions ?? []).some(({ type, status: is }) => type === "Ready" && is === "True");
  };
  await cluster.until(`the login of ServiceBinding "${name}"`, isReady, endMsMax);
}

/** Deletes the binding, and resolves when its user is gone: with it, the application's calls are refused. */
export async function revoke(
  cluster: ClusterUnderTour,
  name: string,
  bound: BoundClient,
  key: string,
): Promise<number> {
  await cluster.client.delete(ServiceBinding, { name, namespace: cluster.namespace });
  const isRefused = (): Promise<boolean> =>
    bound.get(key).then(
      () => false,
      () => true,
    );
  return cluster.until(`the end of the user of "${name}"`, isRefused, endMsMax);
}

/** The content of the Secret that a ServiceBinding of this name keeps. */
export async function loginOf(
  { client, namespace }: ClusterUnderTour,
  name: string,
): Promise<Readonly<Record<string, string>>> {
  const { data = {} } = await client.get(Secret, { name, namespace });
  const decoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString("utf8")]);
  return Object.fromEntries(decoded) as Readonly<Record<string, string>>;
}

/** An application with the login of this ServiceBinding. */
export async function boundClient(cluster: ClusterUnderTour, name: string): Promise<BoundClient> {
  return new BoundClient(await cluster.clientEndpoint(), () => loginOf(cluster, name));
}
