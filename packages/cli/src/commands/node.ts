import { join } from "node:path";
import { type HttpTransport, httpTransport } from "@setpoint/client/node";
import type { KeyPair } from "@setpoint/controlplane";
import type { Clock } from "@setpoint/host";
import { startStallWatchdog, systemHost } from "@setpoint/host/system";
import { startNode, type ImageProgress } from "@setpoint/process-node";
import { openLog } from "../cluster/log-file.ts";
import type { NodeInit, NodeMessage } from "../cluster/node-process.ts";
import { stallLimits } from "../cluster/stall-limits.ts";
import type { Command } from "../command.ts";
import { guardProcess } from "../process-guard.ts";
import { sentenceOf } from "../sentence-of.ts";

/** `setpoint node`: the agent of one node, a child of `setpoint up`; stops on its order, and when the parent is gone. */
export const node: Command = {
  name: "node",
  usage: "node",
  summary: "Run a node agent; started by `setpoint up`.",
  internal: true,
  async run() {
    if (process.send === undefined) {
      process.stderr.write('Cannot run "setpoint node" by hand: it is started by "setpoint up".\n');
      return 2;
    }
    const init = await firstMessage();
    const parentGone = new Promise<void>((resolve) => process.once("disconnect", resolve));
    endAfter(parentGone);
    process.on("SIGINT", () => {});
    const logPath = join(init.directory, "agent.log");
    const log = openLog(logPath);
    using _watchdog = startStallWatchdog({ ...stallLimits, file: logPath });
    try {
      await serve(init, log.write, parentGone);
      return 0;
    } catch (error) {
      tell({ kind: "failed", sentence: sentenceOf(error) });
      return 1;
    } finally {
      log.close();
    }
  },
};

/** How long the agent may go on without its parent: it stops its pods, or it hangs in its start and must end all the same. */
const orphanMsMax = 20_000;

/** Ends the process some time after its parent, whatever it is doing; its sandboxes die with it. */
function endAfter(parentGone: Promise<void>): void {
  void parentGone.then(() => setTimeout(() => process.exit(1), orphanMsMax).unref());
}

async function serve(init: NodeInit, write: (line: string) => void, parentGone: Promise<void>): Promise<void> {
  const host = systemHost({ write });
  using _guard = guardProcess(host.log);
  const { client, serving, network } = init.keys;
  await using transport = transportAs(init, client, host.clock);
  await using networkTransport = transportAs(init, network, host.clock);
  await using _agent = await startNode({
    name: init.name,
    directory: init.directory,
    imageCache: init.imageCache,
    localImages: init.localImages,
    clusterDnsAddress: init.dnsAddress,
    ...mirrorOption(),
    transport,
    host,
    caPem: init.ca,
    tls: { cert: serving.certificate, key: serving.key },
    ...(init.podNetwork === undefined ? {} : { podNetwork: { ...init.podNetwork, transport: networkTransport } }),
    onProgress: (progress) => tell({ kind: "say", line: progressLine(progress) }),
  });
  tell({ kind: "ready" });
  await parentGone;
}

function transportAs({ server, ca }: NodeInit, keys: KeyPair, clock: Clock): HttpTransport {
  return httpTransport({ server, ca, cert: keys.certificate, key: keys.key, clock, userAgent: "setpoint-node" });
}

/** Where Debian packages come from, when not from where this machine's apt has them. */
function mirrorOption(): { readonly mirror?: string } {
  const mirror = process.env["SETPOINT_DEBIAN_MIRROR"];
  return mirror === undefined || mirror === "" ? {} : { mirror };
}

function progressLine({ image, step, seconds }: ImageProgress): string {
  if (step === "ready") return `  image ${image} is ready${seconds === undefined ? "" : ` (${seconds.toFixed(1)} s)`}`;
  return `  image ${image}: ${step} …`;
}

function firstMessage(): Promise<NodeInit> {
  return new Promise((resolve) => process.once("message", (message) => resolve(message as NodeInit)));
}

function tell(message: NodeMessage): void {
  if (process.connected) process.send?.(message);
}
