/** Starts an embedded Kubernetes control plane in this process. Wiring and nothing else. */
import type { Socket } from "node:net";
import { join } from "node:path";
import { SetpointError, type Transport, type UserInfo } from "@setpoint/apimachinery";
import type { ConnectToPod, FaultPlan, ListeningServer } from "@setpoint/apiserver/http";
import type { CertificateAuthority, KeyPair } from "@setpoint/host/certificates";
import { resourceMetricsEndpoints } from "@setpoint/apiserver";
import {
  agentStats,
  createAuthenticator,
  createNodeProxy,
  objectProxyEndpoints,
  FaultyServer,
  MemoryGuard,
  serve,
  steerable,
} from "@setpoint/apiserver/http";
import { createClient } from "@setpoint/client";
import { writeKubeconfig } from "@setpoint/client/node";
import type { Host } from "@setpoint/host";
import { seededRandom } from "@setpoint/host/simulated";
import { systemHost } from "@setpoint/host/system";
import { EventRecorder } from "@setpoint/runtime";
import { assembleApiServer, type AssembledServer } from "./api-server-assembly.ts";
import { builtInControllers, startBuiltInControllers } from "./built-in-controllers.ts";
import { controllersUser, prepareForControllers } from "./controllers-role.ts";
import { serveExtensions } from "./extension-servers.ts";
import { kindActors } from "./notices/kind-actors.ts";
import type { NodeAbilities } from "./notices/notices.ts";
import { reportNotices } from "./notices/report-notices.ts";
import { keepKubernetesService } from "./kubernetes-service.ts";
import { slicedTransport } from "./sliced-transport.ts";
import { kubeletClientUser, nodeAgentsGroup, nodeNetworksGroup, prepareForNodes } from "./node-agents.ts";
import { loadAuthority, loadTokenKey, saveTokenKey } from "./pki.ts";

/** What a control plane stores, where it listens and what it runs. */
export interface ControlPlaneOptions {
  /** Default: the system's clock, randomness and log. */
  readonly host?: Host;
  /** Where state and keys live; absent: in memory. */
  readonly directory?: string;
  /** Where to listen with HTTPS; absent: in-process only. Port 0 is any free one. */
  readonly https?: { readonly port?: number; readonly address?: string };
  /** Whether the built-in controllers run; default true. */
  readonly controllers?: boolean;
  /** The range of the Services' addresses; default 127.96.0.0/12. */
  readonly serviceCidr?: string;
  /** Where cluster DNS answers, outside of any Service: no Service gets it. */
  readonly dnsAddress?: string;
  /** The network of the pods, where it is not that of this process. */
  readonly podNetwork?: {
    /** Where pods reach the API server: its connections are given to `accept`. */
    readonly api: { readonly address: string; readonly port: number };
    /** More addresses of the API server's certificate. */
    readonly hosts: readonly string[];
    /** A connection to a pod; undefined for an address that this process reaches by itself. */
    readonly connectToPod: ConnectToPod;
    /** Where this process reaches an address of a node. */
    readonly hostOf: (address: string) => string;
  };
  /**
   * Why it serves reads alone, such as a full disk: writes are refused with it, and no controller runs.
   * Absent: it serves all.
   */
  readonly readsOnly?: Error;
  /**
   * What the nodes do. With it, writes that have no effect get a Warning and an Event; absent, as on the bare
   * API server, nobody is warned.
   */
  readonly nodes?: NodeAbilities;
  /** Faults for clients over HTTPS; `/setpoint/faults` controls them. */
  readonly faults?: FaultPlan;
}

/** The keys and certificates of a node agent, PEM. */
export interface NodeKeys {
  readonly client: KeyPair;
  readonly serving: KeyPair;
  /** As the network part of the node, which reads all pods and policies. */
  readonly network: KeyPair;
}

/** A running control plane. */
export interface ControlPlane extends AsyncDisposable {
  /** As cluster-admin, without a socket. */
  readonly transport: Transport;
  /** As any user, without a socket. */
  transportAs(user: UserInfo): Transport;
  /** Where it listens; undefined when in-process only. */
  readonly url: string | undefined;
  /** Serves a connection that another listener accepted. Throws when it does not listen itself. */
  accept(socket: Socket): void;
  /** PEM of the cluster's authority. */
  readonly caPem: string;
  /** A client certificate for a user. */
  issueClient(user: string, groups: readonly string[]): KeyPair;
  /** The certificates of a node agent: as a client, and as a server under `hosts`. */
  issueNode(name: string, hosts: readonly string[]): NodeKeys;
  /** The text of a kubeconfig for cluster-admin. Throws when it does not listen. */
  kubeconfig(): string;
}

const admin: UserInfo = { username: "admin", groups: ["system:masters", "system:authenticated"] };

/**
 * Resolves when it serves and its controllers are in sync.
 *
 * Errors: `ERR_DATA_DIR_IN_USE`, `ERR_DATA_DIR_CORRUPT`; `ERR_PORT_IN_USE` when the port is taken.
 */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const host = options.host ?? systemHost();
  await using parts = new AsyncDisposableStack();
  const { assembled, authority } = await assemble(host, options);
  parts.use(assembled);
  const listening =
    options.https === undefined ? undefined : parts.use(await listen(host, assembled, authority, options));
  if (options.readsOnly !== undefined) return describe(assembled, authority, listening, parts.move());
  const transport = assembled.server.transport(admin);
  if (options.controllers !== false) {
    await prepareForControllers(transport, host);
    const controllers = {
      transport: slicedTransport(assembled.server.transport(controllersUser), host.clock),
      host,
      authority,
    };
    parts.use(await startBuiltInControllers(controllers));
    if (options.nodes !== undefined) parts.use(startNotices(assembled, authority, host, options.nodes));
  }
  if (listening !== undefined) {
    const own = { address: options.https?.address ?? "127.0.0.1", port: listening.port };
    const { serviceCidr } = options;
    const where = { ...(options.podNetwork?.api ?? own), serviceCidr };
    parts.use(await keepKubernetesService(transport, host, where));
    await prepareForNodes(transport, host);
    const connectToPod = options.podNetwork?.connectToPod;
    const { server, extensions: catalog } = assembled;
    const reached = connectToPod === undefined ? {} : { connectToPod };
    parts.use(await serveExtensions({ server, catalog, host, transport, authority, ...reached }));
  }
  return describe(assembled, authority, listening, parts.move());
}

async function assemble(
  host: Host,
  { directory, serviceCidr, dnsAddress, podNetwork, readsOnly }: ControlPlaneOptions,
): Promise<{ assembled: AssembledServer; authority: CertificateAuthority }> {
  const pki = directory === undefined ? undefined : join(directory, "pki");
  const tokenKey = loadTokenKey(pki);
  // The storage first: it finds out whether another process uses the directory.
  const assembled = await assembleApiServer({
    host,
    ...(directory === undefined ? {} : { directory: join(directory, "store") }),
    ...(serviceCidr === undefined ? {} : { serviceCidr }),
    ...(dnsAddress === undefined ? {} : { dnsAddress }),
    ...(podNetwork === undefined ? {} : { connectToPod: podNetwork.connectToPod }),
    ...(tokenKey === undefined ? {} : { tokenKey }),
    readsOnly,
    // The agents of such a network enforce them; loopback addresses are reached by every process.
    networkPolicyEnforced: podNetwork !== undefined,
  });
  const authority = loadAuthority({
    clock: host.clock,
    random: host.random,
    ...(pki === undefined ? {} : { directory: pki }),
  });
  saveTokenKey(pki, assembled.tokens.key);
  return { assembled, authority };
}

function startNotices(
  { server, storage }: AssembledServer,
  authority: CertificateAuthority,
  host: Host,
  nodes: NodeAbilities,
): AsyncDisposable {
  const client = createClient(server.transport(controllersUser), host);
  const events = new EventRecorder(client, host, "setpoint-up");
  return reportNotices({ server, storage, events, nodes, actors: kindActors(builtInControllers(authority)) });
}

/** The first address of the range is that of the Service `kubernetes`. */
function firstAddress(serviceCidr: string): string {
  return serviceCidr.replace(/\.\d+\/\d+$/, ".1");
}

async function listen(
  host: Host,
  { server, storage, authorizer, tokens }: AssembledServer,
  authority: CertificateAuthority,
  options: ControlPlaneOptions,
): Promise<ListeningServer> {
  const { faults } = options;
  const answering =
    faults === undefined
      ? server
      : steerable(
          new FaultyServer({ server, host, plan: faults, randomOf: seededRandom, revision: () => storage.revision }),
        );
  const { address = "127.0.0.1", port = 0 } = options.https ?? {};
  const names = [
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
  ];
  const own = authority.issueServer({
    commonName: "kube-apiserver",
    hosts: [
      ...names,
      "127.0.0.1",
      address,
      firstAddress(options.serviceCidr ?? "127.96.0.0/12"),
      ...(options.podNetwork?.hosts ?? []),
    ],
  });
  // Without a group: agents authorize this user by RBAC, and a binding to system:kubelet-api-admin allows it.
  const toNodes = authority.issueClient({ commonName: kubeletClientUser, organizations: [] });
  const authenticate = createAuthenticator({ serviceAccountTokens: tokens, authorizer });
  const { reader } = server;
  const toAgents = { ca: authority.certificate, cert: toNodes.certificate, key: toNodes.key };
  const proxy = createNodeProxy({
    reader,
    authorizer,
    authenticate,
    admit: (attributes, connecting) => server.admitConnection(attributes, connecting),
    tls: toAgents,
    hostOf: options.podNetwork?.hostOf,
  });
  server.addEndpoints(proxy.endpoints);
  const { connectToPod, hostOf } = options.podNetwork ?? {};
  server.addEndpoints(objectProxyEndpoints({ reader, connectToPod, hostOf, tls: toAgents }));
  server.addEndpoints(
    resourceMetricsEndpoints({ ...host, reader, readSummary: agentStats(toAgents, options.podNetwork?.hostOf) }),
  );
  try {
    return await serve(new MemoryGuard(answering, host.clock), {
      host,
      address,
      port,
      tls: { ...own, clientCa: authority.certificate },
      authenticate,
      upgrade: proxy.upgrade,
    });
  } catch (cause) {
    if ((cause as { code?: unknown }).code !== "EADDRINUSE") throw cause;
    throw new SetpointError(
      "ERR_PORT_IN_USE",
      `Cannot listen on ${address}:${port}: another process does; choose another port, 0 for any`,
      { cause },
    );
  }
}

function describe(
  assembled: AssembledServer,
  authority: CertificateAuthority,
  listening: ListeningServer | undefined,
  parts: AsyncDisposableStack,
): ControlPlane {
  const issueClient = (user: string, groups: readonly string[]): KeyPair =>
    authority.issueClient({ commonName: user, organizations: groups });
  return {
    transport: assembled.server.transport(admin),
    transportAs: (user) => assembled.server.transport(user),
    url: listening?.url,
    caPem: authority.certificate,
    accept(socket) {
      if (listening === undefined) throw notListening("accept a connection");
      listening.accept(socket);
    },
    issueClient,
    issueNode: (name, hosts) => ({
      client: issueClient(`system:node:${name}`, ["system:nodes", nodeAgentsGroup]),
      network: issueClient(`setpoint:node-network:${name}`, [nodeNetworksGroup]),
      serving: authority.issueServer({ commonName: `system:node:${name}`, hosts: [name, ...hosts] }),
    }),
    kubeconfig() {
      if (listening === undefined) throw notListening("write a kubeconfig");
      const { certificate, key } = issueClient(admin.username, ["system:masters"]);
      return writeKubeconfig({
        server: listening.url,
        ca: authority.certificate,
        cert: certificate,
        key,
        context: "setpoint",
      });
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

function notListening(what: string): SetpointError {
  const message = `Cannot ${what}: this control plane is in-process only; start it with \`https\``;
  return new SetpointError("ERR_NOT_LISTENING", message);
}
