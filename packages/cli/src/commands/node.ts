import { join } from "node:path";
import { type HttpTransport, httpTransport } from "@setpoint/client/node";
import type { KeyPair } from "@setpoint/controlplane";
import type { Clock } from "@setpoint/host";
import { startStallWatchdog, systemHost } from "@setpoint/host/system";
import { startNode, type ImageProgress } from "@setpoint/process-node";
import { openLog } from "../cluster/log-file.ts";
import type { NodeInit, NodeMessage, NodeStop } from "../cluster/node-process.ts";
import { stallLimits } from "../cluster/stall-limits.ts";
import type { Command } from "../command.ts";
import { guardProcess } from "../process-guard.ts";
import { ownImages } from "../release/own-images.ts";
import { sentenceOf } from "../sentence-of.ts";

/**
 * `setpoint node`: the agent of one node, a child of `setpoint up`; stops on its order, and when the parent
 * is gone.
 */
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
    const end = untilEnd(init.orphanMs);
    endAfter(end, init.orphanMs);
    process.on("SIGINT", () => {});
    const logPath = join(init.directory, "agent.log");
    const log = openLog(logPath);
    using _watchdog = startStallWatchdog({ ...stallLimits, file: logPath });
    try {
      await serve(init, log.write, end);
      return 0;
    } catch (error) {
      tell({ kind: "failed", sentence: sentenceOf(error) });
      return 1;
    } finally {
      log.close();
    }
  },
};

/** The order to stop, or the end of the parent without one. */
type End = Promise<"ordered" | "orphaned">;

/** How long the agent may take to stop its pods, or to go on when it hangs in its start. */
const stopMsMax = 20_000;

function untilEnd(orphanMs: number): End {
  return new Promise((resolve) => {
    process.on("message", (message: NodeStop) => message.kind === "stop" && resolve("ordered"));
    process.once("disconnect", () => resolve(orphanMs > 0 ? "orphaned" : "ordered"));
  });
}

/** Ends the process some time after its parent, whatever it is doing. */
function endAfter(end: End, orphanMs: number): void {
  void end.then((how) => {
    const limitMs = stopMsMax + (how === "orphaned" ? orphanMs : 0);
    setTimeout(() => process.exit(1), limitMs).unref();
  });
}

async function serve(init: NodeInit, write: (line: string) => void, end: End): Promise<void> {
  const host = systemHost({ write });
  using _guard = guardProcess(host.log);
  const { client, serving, network } = init.keys;
  await using transport = transportAs(init, client, host.clock);
  await using networkTransport = transportAs(init, network, host.clock);
  await using agent = await startNode({
    name: init.name,
    directory: init.directory,
    imageCache: init.imageCache,
    localImages: init.localImages,
    allowHost: init.allowHost,
    ownImages: ownImages(),
    clusterDnsAddress: init.dnsAddress,
    ...mirrorOption(),
    transport,
    host,
    caPem: init.ca,
    tls: { cert: serving.certificate, key: serving.key },
    ...(init.podNetwork === undefined ? {} : { podNetwork: { ...init.podNetwork, transport: networkTransport } }),
    onNotice: (sentence) => tell({ kind: "say", line: sentence }),
    fetch,
    onProgress: (progress) => tell({ kind: "say", line: progressLine(progress) }),
  });
  tell({ kind: "ready" });
  if ((await end) === "ordered") return;
  host.log.warn("Parent process ended without a stop order; pods keep running for now", { forMs: init.orphanMs });
  const isWanted = await agent.wanted(AbortSignal.timeout(init.orphanMs)).then(
    () => true,
    () => false,
  );
  host.log.info(isWanted ? "Another agent takes over" : "No other agent took over; stopping pods");
  await (isWanted ? agent.handOver() : agent.abandon());
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
