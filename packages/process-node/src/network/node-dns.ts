/** Whether this node, or another one of this machine for the same cluster, answers the cluster's names. */
import { Resolver } from "node:dns/promises";
import type { ClusterDns } from "./cluster-dns.ts";
import { clusterDomain } from "./cluster-names.ts";
import type { ServiceTable } from "./service-table.ts";

const answerMsMax = 2_000;

export interface NodeDnsState {
  /** Whether pods can be told to ask at the address. */
  readonly isServed: boolean;
  /** Why not. */
  readonly problem?: string;
}

export interface DnsPlace {
  readonly address: string;
  readonly port?: number;
  /** Whether nobody but nodes of this cluster can listen there. */
  readonly isOurs?: boolean;
}

/** Listens, or finds out who does. Ask again from time to time: another node that listened may have ended. */
export async function serveDns(
  dns: ClusterDns,
  table: ServiceTable,
  { address, port = 53, isOurs = false }: DnsPlace,
): Promise<NodeDnsState> {
  if (dns.isListening) return { isServed: true };
  const problem = await dns.listen(address, port);
  if (problem === undefined) return { isServed: true };
  if (!problem.includes("EADDRINUSE")) return { isServed: false, problem };
  if (isOurs) return { isServed: true };
  if (await answersForUs(table, address, port)) return { isServed: true };
  return {
    isServed: false,
    problem: `another program listens on ${address}:${port}, and it does not know this cluster`,
  };
}

/** The Service `kubernetes` has another address in every cluster of a machine. */
async function answersForUs(table: ServiceTable, address: string, port: number): Promise<boolean> {
  const own = table.find("default", "kubernetes")?.spec.clusterIP;
  const resolver = new Resolver({ timeout: answerMsMax, tries: 1 });
  resolver.setServers([`${address}:${port}`]);
  try {
    const [answer] = await resolver.resolve4(`kubernetes.default.svc.${clusterDomain}`);
    return answer === own;
  } catch {
    return false;
  }
}
