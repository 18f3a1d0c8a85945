/** Finds out whether this node, or another node of the same cluster on this machine, serves cluster DNS. */
import { Resolver } from "node:dns/promises";
import type { ClusterDns } from "./cluster-dns.ts";
import { clusterDomain } from "./cluster-names.ts";
import type { ServiceTable } from "./service-table.ts";

const answerMsMax = 2_000;

export interface NodeDnsState {
  /** Whether a DNS server of this cluster answers at the address. */
  readonly isServed: boolean;
  /** The reason when none does. */
  readonly problem?: string;
}

export interface DnsPlace {
  readonly address: string;
  readonly port?: number;
  /** Whether only nodes of this cluster can listen there. */
  readonly isOurs?: boolean;
}

/**
 * Listens, or finds out which program does. Repeat it from time to time: another node that listens may end.
 */
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
