/**
 * Webhooks of an operator whose installer has registered them and issues their certificate, as the Operator
 * Lifecycle Manager does. The operator only serves them.
 */
import { type Host, sleep } from "@setpoint/host";
import { createWebhookHandler } from "@setpoint/runtime";
import type { Operator } from "../operator.ts";
import { certificateFileVariable, keyFileVariable } from "../webhook-manifests.ts";
import { certificateFromFiles, type CertificateFiles } from "./status-certificate.ts";
import { startWebhookServer } from "./webhook-server.ts";

/** How often it is seen whether the files have another certificate. */
const lookMsDefault = 600_000;

export interface InstalledWebhooksOptions {
  readonly host: Host;
  readonly files: CertificateFiles;
  readonly address?: string;
  readonly port?: number;
  /** How often the files are read; default: every ten minutes. */
  readonly lookMs?: number;
  /** How long calls are still answered after the end has begun. */
  readonly leavingMs: number;
}

/** The files that an installer names in the environment; undefined when it names none. */
export function installedCertificate(
  environment: Readonly<Record<string, string | undefined>>,
): CertificateFiles | undefined {
  const certificateFile = environment[certificateFileVariable];
  const keyFile = environment[keyFileVariable];
  return certificateFile === undefined || keyFile === undefined ? undefined : { certificateFile, keyFile };
}

/** Errors: `ERR_BAD_CERTIFICATE_FILE`. */
export async function serveInstalledWebhooks(
  operator: Operator,
  { host, files, address, port, leavingMs, lookMs = lookMsDefault }: InstalledWebhooksOptions,
): Promise<AsyncDisposable & { readonly port: number }> {
  const handler = createWebhookHandler({ ...host, webhooks: operator.webhooks, kinds: operator.kinds });
  const certificate = certificateFromFiles(files, "the webhooks");
  let served = certificate.current();
  const where = { ...(address === undefined ? {} : { address }), ...(port === undefined ? {} : { port }) };
  const server = await startWebhookServer({ handler, clock: host.clock, certificate: served, ...where });
  const look = (): void => {
    try {
      const now = certificate.current();
      if (now !== served) server.serve(now);
      served = now;
    } catch (error) {
      host.log.warn("Certificate of the webhooks is not replaced: the one before is served on", { error });
    }
    timer = host.clock.setTimer(look, lookMs);
  };
  let timer = host.clock.setTimer(look, lookMs);
  host.log.info("Listening for the API server", { port: server.port, webhooks: operator.webhooks.length });
  return {
    port: server.port,
    async [Symbol.asyncDispose]() {
      timer.cancel();
      await sleep(host.clock, leavingMs);
      await server[Symbol.asyncDispose]();
    },
  };
}
