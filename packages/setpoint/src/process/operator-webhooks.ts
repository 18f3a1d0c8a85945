/** The webhooks of a running operator: listening, trusted, registered. */
import {
  MutatingWebhookConfiguration,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhookConfiguration,
} from "@setpoint/api";
import { isForbidden, type KubeObject } from "@setpoint/apimachinery";
import type { Client, KindRef } from "@setpoint/client";
import { type Host, sleep } from "@setpoint/host";
import type { KeyPair } from "@setpoint/host/certificates";
import { conversionPath, createWebhookHandler } from "@setpoint/runtime";
import type { WebhookClient } from "@setpoint/schema";
import type { Operator } from "../operator.ts";
import { type WebhookPlace, webhookConfigurations, webhooksName } from "../webhook-manifests.ts";
import { needsWebhookServer } from "../webhook-rules.ts";
import { removeDeskConfigurations } from "../desk-configurations.ts";
import type { CertificateTimes } from "./certificate-plan.ts";
import { processStore, secretStore } from "./certificate-store.ts";
import { applyConversion, installedConversion } from "./conversion-client.ts";
import { serveInstalledWebhooks } from "./installed-webhooks.ts";
import type { CertificateFiles } from "./status-certificate.ts";
import { WebhookCertificates } from "./webhook-certificates.ts";
import { startWebhookServer, type WebhookServer } from "./webhook-server.ts";

/** Where the webhook server listens, and the namespace of its Service and Secret. */
export interface OperatorWebhooksOptions {
  readonly client: Client;
  readonly host: Host;
  /**
   * The operator's own namespace when it runs in a pod behind its Service; absent: on a desk, reached by an
   * address.
   */
  readonly namespace?: string;
  /** Where to listen; in a pod all addresses, on a desk 127.0.0.1. */
  readonly address?: string;
  /** Default: 9443 in a pod, any free port on a desk. */
  readonly port?: number;
  readonly times?: CertificateTimes;
  /**
   * In a pod: how long calls are still answered after the end has begun, until API servers have heard of it.
   * Default 3 s.
   */
  readonly leavingMs?: number;
}

const leavingMsDefault = 3_000;

/** A running webhook server. Disposing of it stops the server. */
export interface OperatorWebhooks extends AsyncDisposable {
  readonly port: number;
  /** Replaces the authority before its time; calls go on meanwhile. */
  rotate(): Promise<void>;
}

/** Kinds of the objects that are applied, by their names. */
const registrations: Readonly<Record<string, KindRef>> = {
  ValidatingWebhookConfiguration,
  MutatingWebhookConfiguration,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
};

/**
 * Resolves when API servers can call; undefined when the operator has nothing to be called for.
 *
 * Guarantees: configurations are registered after the server listens. On a desk they are taken back at the
 * end; in a cluster they stay, since other replicas answer. In a cluster, those that a run on a desk has left
 * are removed.
 */
export async function serveOperatorWebhooks(
  operator: Operator,
  options: OperatorWebhooksOptions,
): Promise<OperatorWebhooks | undefined> {
  if (!needsWebhookServer(operator.webhooks, operator.kinds)) return undefined;
  const { client, host, namespace, times } = options;
  const replaced = namespace === undefined ? await installedConversion(operator, client) : undefined;
  if (namespace !== undefined) await removeDeskConfigurations(operator, client);
  const name = webhooksName(operator);
  const address = options.address ?? (namespace === undefined ? "127.0.0.1" : undefined);
  const handler = createWebhookHandler({ ...host, webhooks: operator.webhooks, kinds: operator.kinds });
  let isStarting = false;
  const listen = Promise.withResolvers<WebhookServer>();
  const port = options.port ?? (namespace === undefined ? 0 : undefined);
  const where = {
    handler,
    clock: host.clock,
    ...(address === undefined ? {} : { address }),
    ...(port === undefined ? {} : { port }),
  };
  const certificates = await WebhookCertificates.start({
    host,
    store: namespace === undefined ? processStore() : secretStore(client, host, { namespace, name }),
    hosts: namespace === undefined ? [address ?? "127.0.0.1"] : [`${operator.name}-operator.${namespace}.svc`],
    ...(times === undefined ? {} : { times }),
    // Configurations are applied only after the server listens.
    onServing: (certificate) => {
      if (isStarting) return void serveFrom(listen.promise, certificate);
      isStarting = true;
      void startWebhookServer({ ...where, certificate }).then(listen.resolve, listen.reject);
    },
    publish: async (bundle) => {
      const { port: listeningPort } = await listen.promise;
      await register(operator, client, placeOf(operator, namespace, listeningPort, bundle));
    },
  });
  const listening = await listen.promise;
  host.log.info("Listening for the API server", { port: listening.port, webhooks: operator.webhooks.length });
  return {
    port: listening.port,
    rotate: () => certificates.rotate(),
    async [Symbol.asyncDispose]() {
      await certificates[Symbol.asyncDispose]();
      if (namespace === undefined) await unregister(operator, client, replaced);
      else await sleep(host.clock, options.leavingMs ?? leavingMsDefault);
      await listening[Symbol.asyncDispose]();
    },
  };
}

async function serveFrom(listening: Promise<WebhookServer>, certificate: KeyPair): Promise<void> {
  (await listening).serve(certificate);
}

/** How API servers reach the operator: by its Service, or by this process's address. */
function placeOf(
  operator: Operator,
  namespace: string | undefined,
  port: number,
  bundle: string,
): Required<Pick<WebhookPlace, "client">> & WebhookPlace {
  const caBundle = Buffer.from(bundle).toString("base64");
  const client = (path: string): WebhookClient =>
    namespace === undefined
      ? { url: `https://127.0.0.1:${port}${path}`, caBundle }
      : { service: { namespace, name: `${operator.name}-operator`, path, port: 443 }, caBundle };
  return { client, ...(namespace === undefined ? {} : { ownNamespace: namespace }) };
}

async function register(operator: Operator, client: Client, place: WebhookPlace): Promise<void> {
  const write = { fieldManager: webhooksName(operator), force: true };
  for (const object of webhookConfigurations(operator, place)) {
    await client.apply(registrationKind(object), object, write);
  }
  await applyConversion(operator, client, place.client(conversionPath));
}

function registrationKind({ kind }: KubeObject): KindRef {
  const found = registrations[kind];
  if (found === undefined) throw new TypeError(`Cannot register ${kind}: it is no kind of webhook or policy`);
  return found;
}

/**
 * Nobody answers any more: what was registered would only block writes. An installation gets its conversion
 * back.
 */
async function unregister(operator: Operator, client: Client, replaced: WebhookClient | undefined): Promise<void> {
  await removeDeskConfigurations(operator, client);
  await applyConversion(operator, client, replaced);
}

export interface StartWebhooksOptions extends OperatorWebhooksOptions {
  /** On a desk: the URL of the API server, which may be too far away to call this process. */
  readonly server?: string;
  /** In a pod: the files of a certificate that the installer issues; it has registered the webhooks too. */
  readonly certificate?: CertificateFiles | undefined;
}

/** Policies and webhooks of an operator's process, as far as the API server can reach it. */
export async function startWebhooks(
  operator: Operator,
  { server, certificate, ...options }: StartWebhooksOptions,
): Promise<AsyncDisposable | undefined> {
  const { host, namespace } = options;
  // In a cluster the installation brings them.
  if (namespace === undefined) await applyPolicies(operator, options);
  if (!needsWebhookServer(operator.webhooks, operator.kinds)) return undefined;
  if (namespace === undefined && server !== undefined && !isLoopback(server)) {
    host.log.warn("Webhooks are not registered: the API server cannot call this process", { server });
    return undefined;
  }
  if (namespace === undefined || certificate === undefined) return serveOperatorWebhooks(operator, options);
  return serveInstalledWebhooks(operator, { host, files: certificate, leavingMs: leavingMsDefault });
}

function isLoopback(server: string): boolean {
  const { hostname } = new URL(server);
  return hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.");
}

/**
 * Applies the policies of an operator, which the server enforces by itself; like its kinds, as far as this
 * account may.
 */
async function applyPolicies(operator: Operator, { client, host }: OperatorWebhooksOptions): Promise<void> {
  for (const object of operator.policies.flatMap((each) => each.manifests())) {
    try {
      await client.apply(registrationKind(object), object, { fieldManager: operator.name, force: true });
    } catch (error) {
      if (!isForbidden(error)) throw error;
      host.log.warn("Policy is not installed by this account", { policy: object.metadata.name, why: error.message });
    }
  }
}
