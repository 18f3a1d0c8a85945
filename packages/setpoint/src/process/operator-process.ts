/** Runs an operator as a process: in a pod, or on a desk against the cluster that kubectl would talk to. */
import { hostname, userInfo } from "node:os";
import { createClient, RecordedUse, useRecordingTransport } from "@setpoint/client";
import { connect, resolveConnection } from "@setpoint/client/node";
import { type Host, type LogLevel, SlowSteps } from "@setpoint/host";
import { type StallWatchdogOptions, startStallWatchdog, systemHost } from "@setpoint/host/system";
import { startManager, type Manager } from "@setpoint/runtime";
import type { Operator } from "../operator.ts";
import { managerSettings } from "../run-operator.ts";
import type { LeaseTimes } from "../run-settings.ts";
import { tenureOptions } from "../tenure-options.ts";
import { collectAfterStart } from "./collect-after-start.ts";
import { guardRejections } from "./guard-rejections.ts";
import { installKinds } from "./install-kinds.ts";
import { installedCertificate } from "./installed-webhooks.ts";
import { LogLevelControl } from "./log-level.ts";
import { startWebhooks } from "./operator-webhooks.ts";
import { serveProcessStatus } from "./process-status.ts";
import type { CertificateFiles } from "./status-certificate.ts";
import { reportCopiesInCluster } from "./copies-in-cluster.ts";
import { reportMissingRights, reportUnusedRights } from "./report-rights.ts";

/** Settings of `runOperatorProcess`: the cluster, the namespace, and what is served. */
export interface OperatorProcessOptions {
  /** Default: the pod's own account when in a pod, else the current kubeconfig. */
  readonly kubeconfig?: string;
  readonly context?: string;
  /** Look at these namespaces alone; default: all. */
  readonly namespaces?: readonly string[];
  /** The least level that is logged; default `info`. */
  readonly logLevel?: LogLevel;
  /** Where health, `setpoint why` and, on a desk, metrics are served; default 8080. */
  readonly port?: number;
  /** Where a pod serves its metrics with TLS; default 8443. */
  readonly metricsPort?: number;
  /** Run as one of several replicas, whose Leases are in this namespace; default: in a pod, the pod's own. */
  readonly leaseNamespace?: string;
  /** In place of the operator's own lease times. */
  readonly lease?: LeaseTimes;
  /**
   * Apply the CRDs of the operator first; by default on a desk, where nobody may have installed it, as far as
   * the account may.
   */
  readonly install?: boolean;
  /** Refuse to start when the account lacks a declared right; default: only say so. */
  readonly requireRights?: boolean;
  /**
   * In a pod: `token`, the default, asks the API server who scrapes `/metrics`, and whether he may; `open`
   * answers everybody.
   */
  readonly metricsAccess?: "open" | "token";
  /**
   * In a pod: PEM files of what the metrics are served with, read again when they change; default: a
   * certificate of the process's own.
   */
  readonly metricsCertificate?: CertificateFiles;
  /**
   * In a pod: PEM files of what webhooks are served with; the installer that writes them has registered
   * the webhooks too, as the Operator Lifecycle Manager does. Default: the files that the variables
   * `SETPOINT_WEBHOOK_CERTIFICATE_FILE` and `SETPOINT_WEBHOOK_KEY_FILE` name; without these the operator
   * issues its certificates and registers its webhooks itself.
   */
  readonly webhookCertificate?: CertificateFiles;
  /** Whether the log level can be set and profiles taken while it runs; default: on a desk. */
  readonly debug?: boolean;
  /**
   * When code that never yields is reported with its stack, and when it ends the process, which hears no
   * SIGTERM meanwhile; default after 5 and 20 seconds. The thread that watches takes 11 MB; `false` does
   * without.
   */
  readonly stall?: StallWatchdogOptions | false;
}

/** How long a stop waits for running reconciles: less than a pod's default grace period. */
const shutdownMsMax = 20_000;

/**
 * Resolves to the exit code after SIGINT, SIGTERM or SIGHUP; rejects when it cannot start, and when the lease
 * is lost.
 */
export async function runOperatorProcess(operator: Operator, options: OperatorProcessOptions = {}): Promise<number> {
  const logLevel = new LogLevelControl(options.logLevel);
  const { run: settings = {} } = operator;
  const host = systemHost({ level: () => logLevel.level });
  using _watchdog = options.stall === false ? undefined : startStallWatchdog(options.stall);
  using _rejections = guardRejections();
  using steps = new SlowSteps({
    clock: host.clock,
    say: (step, seconds) => host.log.info("Starting", { step, seconds }),
  });
  const inPod = process.env["KUBERNETES_SERVICE_HOST"] !== undefined && options.kubeconfig === undefined;
  const where = {
    clock: host.clock,
    ...(options.kubeconfig === undefined ? {} : { kubeconfig: options.kubeconfig }),
    ...(options.context === undefined ? {} : { context: options.context }),
    userAgent: `${operator.name}-operator`,
  };
  const { namespace: ownNamespace } = resolveConnection(where);
  // On a desk nobody else runs it.
  const leaseNamespace = options.leaseNamespace ?? (inPod ? ownNamespace : undefined);
  await using connection = connect(where);
  const use = new RecordedUse();
  // The author needs to know what is never used; a pod runs too long to report it.
  const transport = inPod ? connection : useRecordingTransport(connection, use);
  steps.begin("asking the server for the rights of this account");
  await reportMissingRights(operator, {
    transport: connection,
    host,
    isRequired: options.requireRights ?? false,
    ...(options.namespaces === undefined ? {} : { namespaces: options.namespaces }),
    ...(leaseNamespace === undefined ? {} : { ownNamespace: leaseNamespace }),
  });
  steps.begin("installing the kinds");
  if (options.install ?? !inPod) await installKinds(operator, connection, host, { required: options.install === true });
  steps.begin("preparing webhooks");
  await using _webhooks = await startWebhooks(operator, {
    client: createClient(transport, host),
    host,
    certificate: options.webhookCertificate ?? installedCertificate(process.env),
    ...(inPod ? { namespace: ownNamespace } : { server: resolveConnection(where).connection.server }),
  });
  steps.begin("waiting for the first lists of all kinds");
  const identity = process.env["POD_NAME"];
  await using manager = startManager({
    transport,
    host,
    name: operator.name,
    controllers: operator.controllers,
    shutdownMsMax,
    ...managerSettings(settings),
    ...(options.namespaces === undefined ? {} : { namespaces: options.namespaces }),
    caches: { freeze: process.env["NODE_ENV"] !== "production", ...settings.caches },
    ...(leaseNamespace === undefined ? {} : tenureOptions(operator, leaseNamespace, identity, options.lease)),
  });
  settings.started?.(manager);
  await using _status = await serveProcessStatus({
    ...{ manager, host, client: createClient(connection, host), logLevel, inPod },
    metricsAccess: options.metricsAccess ?? "token",
    ...(options.metricsCertificate === undefined ? {} : { certificate: options.metricsCertificate }),
    ...(options.port === undefined ? {} : { port: options.port }),
    ...(options.metricsPort === undefined ? {} : { tlsPort: options.metricsPort }),
    debug: options.debug ?? !inPod,
  });
  await using _copies =
    leaseNamespace === undefined
      ? reportCopiesInCluster({
          ...{ name: operator.name, client: createClient(connection, host), host },
          identity: `${userInfo().username}@${hostname()}`,
        })
      : undefined;
  const isReady = manager.ready.then(() => {
    steps[Symbol.dispose]();
    host.log.info("Ready", { operator: operator.name });
  });
  isReady.then(() => collectAfterStart()).catch(() => {});
  // Awaited here: what this function uses is disposed of when it returns.
  const code = await untilEnd(manager, host);
  if (!inPod) reportUnusedRights(operator, use, host);
  return code;
}

async function untilEnd(manager: Manager, host: Host): Promise<number> {
  const signalled = new Promise<string>((resolve) => {
    // A terminal that is closed sends SIGHUP: it must leave no webhook behind that nobody answers.
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => resolve(signal));
  });
  const ended = manager.done.then(() => "stopped");
  const why = await Promise.race([signalled, ended]);
  host.log.info("Stopping", { why });
  await manager.stop();
  return 0;
}

/** Whether a module's default export is an operator. */
export function isOperator(value: unknown): value is Operator {
  return typeof value === "object" && value !== null && "controllers" in value && "crds" in value;
}
