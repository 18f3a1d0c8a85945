/**
 * Serves the status of an operator's process: to the cluster when in a pod, to its own machine when on a
 * desk.
 */
import { messageOf } from "@setpoint/apimachinery";
import type { Client } from "@setpoint/client";
import type { Host } from "@setpoint/host";
import type { KeyPair } from "@setpoint/host/certificates";
import type { Manager } from "@setpoint/runtime";
import type { LogLevelControl } from "./log-level.ts";
import { observeProcess } from "./process-metrics.ts";
import { Profiler } from "./profiles.ts";
import { deskPorts, metricsPort, statusPort } from "../status-ports.ts";
import { openAccess, reviewedAccess, type StatusAccess } from "./status-access.ts";
import {
  certificateFromFiles,
  type CertificateFiles,
  ownCertificate,
  type StatusCertificate,
} from "./status-certificate.ts";
import { serveStatus, type StatusServer, type StatusServerOptions } from "./status-server.ts";

/** How often it is seen whether another certificate is to be served. */
const certificateLookMs = 600_000;

export interface ProcessStatusOptions {
  readonly manager: Manager;
  readonly host: Host;
  /** Its account reviews tokens. */
  readonly client: Client;
  readonly logLevel: LogLevelControl;
  readonly inPod: boolean;
  /** In a pod: who may read `/metrics`. */
  readonly metricsAccess: "open" | "token";
  /** Whether the log level can be set and profiles taken. */
  readonly debug: boolean;
  /** In a pod: what 8443 is served with; default: a certificate of its own. */
  readonly certificate?: CertificateFiles;
  /** Default 8080; on a desk the first of `deskPorts` that is free. */
  readonly port?: number;
  /** Default 8443. */
  readonly tlsPort?: number;
}

export async function serveProcessStatus(options: ProcessStatusOptions): Promise<AsyncDisposable> {
  const { manager, host, inPod, logLevel, debug } = options;
  const servers = new AsyncDisposableStack();
  servers.defer(observeProcess(host.metrics, host.clock));
  const told = { manager, ...(debug ? { debug: { logLevel, profiler: new Profiler(host.clock) } } : {}) };
  try {
    for (const { certificate, isNeeded, morePorts = [], ...place } of placesOf(options)) {
      const pair = certificate?.current();
      const tls = pair === undefined ? {} : { tls: pair };
      const server = await listen({ ...told, ...place, ...tls, isLoopback: !inPod }, isNeeded, host, morePorts);
      if (server === undefined) continue;
      servers.use(server);
      if (certificate !== undefined) servers.defer(keepServing(server, certificate, pair, host));
    }
  } catch (error) {
    await servers.disposeAsync();
    throw error;
  }
  return servers;
}

interface Place extends Pick<StatusServerOptions, "address" | "port" | "access"> {
  /** A pod that does not answer probes at its own address would never be ready. */
  readonly isNeeded: boolean;
  readonly certificate?: StatusCertificate;
  /** Tried one after the other when the port is taken. */
  readonly morePorts?: readonly number[];
}

/** In a pod: where probes ask, where Prometheus asks, and where a forwarded port ends. */
function placesOf(options: ProcessStatusOptions): readonly Place[] {
  const { host, inPod, certificate: files, port = statusPort } = options;
  const loopback = { address: "127.0.0.1", port, isNeeded: false };
  const morePorts = options.port === undefined ? deskPorts.slice(1) : [];
  if (!inPod) return [{ ...loopback, access: openAccess, morePorts }];
  const access = podAccess(options);
  const address = process.env["POD_IP"];
  if (address === undefined) return [{ ...loopback, access }];
  const certificate = files === undefined ? ownCertificate({ ...host, hosts: [address] }) : certificateFromFiles(files);
  const withTls = { address, port: options.tlsPort ?? metricsPort, access, certificate, isNeeded: false };
  const ofPod = { address, port, isNeeded: true };
  // Pods of Setpoint's own node have loopback addresses, which nobody listens in on, and share 127.0.0.1 with
  // everybody.
  if (address.startsWith("127.")) return [{ ...ofPod, access }, withTls];
  return [{ ...ofPod, access: plainAccess(options) }, withTls, { ...loopback, access }];
}

/**
 * On an address other than the pod's, another program may have the port: a sidecar, or a program on the desk.
 */
async function listen(
  server: StatusServerOptions,
  isNeeded: boolean,
  host: Host,
  morePorts: readonly number[],
): Promise<StatusServer | undefined> {
  try {
    const status = await serveStatus(server);
    // In a pod the manifests name the port.
    if (server.isLoopback === true && status.port !== statusPort)
      host.log.info("Status is served", { port: status.port });
    return status;
  } catch (error) {
    if (isNeeded || (error as { readonly syscall?: unknown }).syscall !== "listen") throw error;
    const [next, ...others] = morePorts;
    if (next !== undefined) return listen({ ...server, port: next }, isNeeded, host, others);
    const { address, port, tls } = server;
    const what = tls === undefined ? "so `setpoint why` cannot ask here" : "so Prometheus finds no metrics here";
    host.log.warn(`Status is not served: the port is taken, ${what}`, { address, port, why: messageOf(error) });
    return undefined;
  }
}

/** Sees now and then whether another certificate is to be served. Returns how to end it. */
function keepServing(
  server: StatusServer,
  certificate: StatusCertificate,
  first: KeyPair | undefined,
  { clock, log }: Host,
): () => void {
  let served = first;
  const look = (): void => {
    try {
      const now = certificate.current();
      if (now !== served) server.serve(now);
      served = now;
    } catch (error) {
      log.warn("Certificate of the metrics is not replaced: the one before is served on", { error });
    }
    timer = clock.setTimer(look, certificateLookMs);
  };
  let timer = clock.setTimer(look, certificateLookMs);
  return () => timer.cancel();
}

/** Where everybody in the network could read a token: for probes, and for metrics that are everybody's. */
function plainAccess({ metricsAccess }: ProcessStatusOptions): StatusAccess {
  return ({ path }) =>
    Promise.resolve(metricsAccess === "open" && path === "/metrics" ? ("allowed" as const) : ("needs TLS" as const));
}

/** What the debug paths tell has names of objects in it, so they are never open in a cluster. */
function podAccess({ client, host, metricsAccess }: ProcessStatusOptions): StatusAccess {
  const reviewed = reviewedAccess({ client, clock: host.clock, log: host.log });
  return (question) =>
    metricsAccess === "open" && question.path === "/metrics" ? Promise.resolve("allowed") : reviewed(question);
}
