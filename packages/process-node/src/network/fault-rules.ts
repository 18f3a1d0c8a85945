/**
 * Faults of the pod network as rules; pure. Each fault is a table of its own, so that it can be removed by
 * itself.
 */
import { isIpv4 } from "./ipv4.ts";
import type { NetworkFault } from "./pod-network.ts";

/** The names of faults' tables begin with this. */
export const faultTablePrefix = "setpoint-fault-";

/** Undefined for what is no rule but a queue (a delay). Throws `TypeError` when the fault makes no sense. */
export function faultRules(table: string, fault: NetworkFault): string | undefined {
  if (fault.kind === "delay") return undefined;
  const { from, to } = fault;
  for (const address of [from, to ?? from])
    if (!isIpv4(address)) throw new TypeError(`expected the IPv4 address of a pod, got ${JSON.stringify(address)}`);
  const verdict = fault.kind === "partition" ? "drop" : lossVerdict(fault.percent);
  const there = `ip saddr ${from}${to === undefined ? "" : ` ip daddr ${to}`} ${verdict}`;
  const back = `ip daddr ${from}${to === undefined ? "" : ` ip saddr ${to}`} ${verdict}`;
  // The agent's own connections (output) are left: probes come from the machine on which the pod runs.
  const chain = (hook: string): string =>
    `  chain ${hook} {\n    type filter hook ${hook} priority -20; policy accept;\n    ${there}\n    ${back}\n  }\n`;
  return `table inet ${table} {\n  comment "${describeFault(fault)}"\n${chain("forward")}${chain("input")}}\n`;
}

export function describeFault(fault: NetworkFault): string {
  if (fault.kind === "delay") return `delay to ${fault.to} of ${fault.delayMs} ms`;
  const where = `${fault.from} and ${fault.to ?? "all others"}`;
  return fault.kind === "partition" ? `partition between ${where}` : `loss of ${fault.percent} % between ${where}`;
}

function lossVerdict(percent: number): string {
  if (!(percent > 0 && percent <= 100)) throw new TypeError(`expected a loss from 0 to 100 percent, got ${percent}`);
  return percent === 100 ? "drop" : `numgen random mod 10000 < ${Math.ceil(percent * 100)} drop`;
}
