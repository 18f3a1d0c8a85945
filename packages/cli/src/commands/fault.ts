import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { messageOf, SetpointError } from "@setpoint/apimachinery";
import { Pod } from "@setpoint/api";
import { type Client, createClient } from "@setpoint/client";
import { connect } from "@setpoint/client/node";
import { systemHost } from "@setpoint/host/system";
import {
  clearFaults,
  injectFault,
  listFaults,
  type NetworkFault,
  type NetworkNamespace,
  readHolder,
} from "@setpoint/process-node";
import { parseNumber, usageError, type Command } from "../command.ts";

/**
 * `setpoint fault`: network faults between pods of the cluster in a data directory; they stay until they are
 * cleared.
 */
export const fault: Command = {
  name: "fault",
  usage:
    "fault (partition POD [POD] | loss PERCENT POD [POD] | delay MS POD | list | clear) [--data-dir DIR] [--namespace NAME]",
  summary: "Cut, lose or delay packets between pods of `setpoint up`.",
  async run(args, output) {
    const { values, positionals } = parse(args);
    const directory = resolve(values["data-dir"] ?? ".setpoint");
    const network = networkOf(directory);
    const [kind = "", ...rest] = positionals;
    if (kind === "list") {
      for (const line of await listFaults(network)) output.out(`${line}\n`);
      return 0;
    }
    if (kind === "clear") {
      output.out(`Removed ${await clearFaults(network)} faults\n`);
      return 0;
    }
    const host = systemHost();
    await using transport = connect({ clock: host.clock, kubeconfig: join(directory, "kubeconfig") });
    const addressOf = podAddresses(createClient(transport, host), values.namespace ?? "default");
    await injectFault(network, await readFault(kind, rest, addressOf));
    output.out(`Injected: ${positionals.join(" ")}\n`);
    return 0;
  },
};

function parse(args: readonly string[]): {
  readonly values: { readonly "data-dir"?: string; readonly namespace?: string };
  readonly positionals: readonly string[];
} {
  const text = { type: "string" } as const;
  try {
    return parseArgs({ args: [...args], options: { "data-dir": text, namespace: text }, allowPositionals: true });
  } catch (cause) {
    throw new SetpointError(usageError, `Cannot inject a fault: ${messageOf(cause)}`);
  }
}

function networkOf(directory: string): NetworkNamespace {
  const holder = readHolder(join(directory, "network-namespace.json"));
  if (holder !== undefined) return { holderPid: holder.pid, isRootless: process.getuid?.() !== 0 };
  const message = `Cannot inject a fault: "${directory}" has no pod network that runs; start "setpoint up --data-dir ${directory}" as root`;
  throw new SetpointError("ERR_NETWORK_FAULT", message);
}

type AddressOf = (pod: string | undefined) => Promise<string>;

/** `pod/NAME` or `NAME`. */
function podAddresses(client: Client, namespace: string): AddressOf {
  return async (pod) => {
    if (pod === undefined) throw new SetpointError(usageError, "Cannot inject a fault: expected the name of a pod");
    const name = pod.replace(/^pods?\//, "");
    const address = (await client.get(Pod, { namespace, name })).status?.podIP;
    if (address !== undefined) return address;
    throw new SetpointError(
      "ERR_NETWORK_FAULT",
      `Cannot inject a fault: pod "${namespace}/${name}" has no address yet`,
    );
  };
}

async function readFault(kind: string, rest: readonly string[], addressOf: AddressOf): Promise<NetworkFault> {
  const between = async (pods: readonly string[]) => ({
    from: await addressOf(pods[0]),
    ...(pods[1] === undefined ? {} : { to: await addressOf(pods[1]) }),
  });
  if (kind === "partition") return { kind, ...(await between(rest)) };
  if (kind === "loss")
    return { kind, percent: parseNumber("loss", rest[0], 1, 100), ...(await between(rest.slice(1))) };
  if (kind === "delay")
    return { kind, delayMs: parseNumber("delay", rest[0], 1, 60_000), to: await addressOf(rest[1]) };
  const message = `Cannot inject a fault: expected partition, loss, delay, list or clear, got ${JSON.stringify(kind)}`;
  throw new SetpointError(usageError, message);
}
