/**
 * Puts faults into the pod network and takes them out: of one process by its handle, of all by
 * `setpoint fault`.
 */
import { randomBytes } from "node:crypto";
import { messageOf } from "@setpoint/apimachinery";
import { nodeError } from "../errors.ts";
import { faultRules, faultTablePrefix } from "./fault-rules.ts";
import type { NetworkNamespace } from "./namespace-holder.ts";
import { interfaceName } from "./pod-addresses.ts";
import type { NetworkFault } from "./pod-network.ts";
import { applyRules, readIn, runIn } from "./run-in-namespace.ts";

/** Injects a fault until it is disposed. Throws `ERR_NETWORK_FAULT` with the reason when this host cannot. */
export async function injectFault(namespace: NetworkNamespace, fault: NetworkFault): Promise<AsyncDisposable> {
  if (fault.kind === "delay") return delayPackets(namespace, fault.to, fault.delayMs);
  const table = `${faultTablePrefix}${randomBytes(4).toString("hex")}`;
  await refusing(fault, async () => applyRules(namespace, faultRules(table, fault) ?? ""));
  return {
    [Symbol.asyncDispose]: async () => void (await runIn(namespace, ["nft", "delete", "table", "inet", table])),
  };
}

/** The faults that are in force, a line each. */
export async function listFaults(namespace: NetworkNamespace): Promise<readonly string[]> {
  const rules = await readIn(namespace, ["nft", "list", "ruleset"]);
  return [...rules.matchAll(new RegExp(`^table inet ${faultTablePrefix}.*\\n\\s*comment "(.*)"`, "gm"))].map(
    ([, text = ""]) => text,
  );
}

/** Removes every fault but delays, which end with the pod's interface or with `tc`. */
export async function clearFaults(namespace: NetworkNamespace): Promise<number> {
  const tables = await readIn(namespace, ["nft", "list", "tables", "inet"]);
  const names = [...tables.matchAll(new RegExp(`^table inet (${faultTablePrefix}\\w+)$`, "gm"))].map(
    ([, name]) => name,
  );
  await applyRules(namespace, names.map((name) => `delete table inet ${name}\n`).join(""));
  return names.length;
}

async function delayPackets(namespace: NetworkNamespace, to: string, delayMs: number): Promise<AsyncDisposable> {
  const device = ["dev", interfaceName(to), "root"];
  const add = ["tc", "qdisc", "add", ...device, "netem", "delay", `${delayMs}ms`];
  await refusing({ kind: "delay", to, delayMs }, () => runIn(namespace, add));
  return { [Symbol.asyncDispose]: async () => void (await runIn(namespace, ["tc", "qdisc", "del", ...device])) };
}

async function refusing(fault: NetworkFault, inject: () => Promise<unknown>): Promise<void> {
  try {
    await inject();
  } catch (cause) {
    const text = messageOf(cause);
    const reason = text.includes("qdisc kind is unknown") ? "this host's kernel has no netem queue (sch_netem)" : text;
    throw nodeError("ERR_NETWORK_FAULT", `Cannot inject a ${fault.kind}: ${reason}`, cause);
  }
}
