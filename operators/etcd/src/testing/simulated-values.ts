/** Clients of simulated etcd, as acceptance tests start them. Only tests import this. */
import type { EtcdModel, SimulatedValues } from "setpoint/testing";

/** The endpoints that a source of etcd names. */
export function endpointsOf(source: unknown): readonly string[] {
  return (source as { readonly endpoints: readonly string[] }).endpoints;
}

/** A client that asks one member after another. */
export function simulatedValues(etcd: EtcdModel): SimulatedValues {
  return {
    write: (source, key, value) => first(source, (endpoint) => etcd.put(endpoint, key, value)),
    read: async (source, key) => (await first(source, (endpoint) => etcd.keys(endpoint))).get(key),
  };
}

async function first<T>(source: unknown, ask: (endpoint: string) => Promise<T>): Promise<T> {
  const failures: unknown[] = [];
  for (const endpoint of endpointsOf(source))
    try {
      return await ask(endpoint);
    } catch (error) {
      failures.push(error);
    }
  throw new AggregateError(failures, "no member answers");
}
