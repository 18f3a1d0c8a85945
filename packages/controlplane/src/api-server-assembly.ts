/**
 * Puts the parts of the API server together: storage, built-in kinds, CRDs, discovery, admission,
 * authorization.
 */
import {
  type ApiServer,
  type Authorizer,
  bootstrap,
  builtinEndpoints,
  builtinResources,
  createApiServer,
  createDiscoveryEndpoints,
  createMemoryStorage,
  type CustomResources,
  decodeProtobuf,
  defaultAdmission,
  metricsEndpoint,
  metricsResources,
  networkPolicyWarning,
  serveCustomResources,
  serveWebhooks,
  type Storage,
  storageCheck,
  withCrdStrategy,
} from "@setpoint/apiserver";
import {
  type ConnectToPod,
  createCertificateAdmission,
  createNodeRestriction,
  createRbacEscalationPlugin,
  createReviewEndpoints,
  createTokenEndpoints,
  exposeMemory,
  ExtensionCatalog,
  httpsWebhookCaller,
  memoryBudgets,
  NodeAuthorizer,
  RbacAuthorizer,
  restrictNodeEvictions,
  ServiceAccountTokens,
  serviceEndpoints,
  storageLimits,
  unionAuthorizer,
  YamlThread,
} from "@setpoint/apiserver/http";
import { openSqliteStorage } from "@setpoint/apiserver/sqlite";
import type { Host } from "@setpoint/host";
import { nodeAgentsGroup } from "./node-agents.ts";

export interface AssemblyOptions {
  readonly host: Host;
  /** Absent: in memory. */
  readonly directory?: string;
  readonly serviceCidr?: string;
  /** Where cluster DNS answers, outside of any Service: no Service gets it. */
  readonly dnsAddress?: string;
  /** Why nothing is written, such as a full disk; absent: all is served. */
  readonly readsOnly?: Error | undefined;
  /** A connection to a pod; undefined for an address that this process reaches by itself. */
  readonly connectToPod?: ConnectToPod;
  /** PEM of the key that signs service-account tokens; absent: a new one. */
  readonly tokenKey?: string;
  /** Whether the pod network enforces NetworkPolicies; default false: writers of policies are warned. */
  readonly networkPolicyEnforced?: boolean;
}

/** The API server with everything that belongs to it. */
export interface AssembledServer extends AsyncDisposable {
  readonly server: ApiServer;
  readonly storage: Storage;
  readonly authorizer: Authorizer;
  readonly tokens: ServiceAccountTokens;
  /** What extension servers serve, for discovery. */
  readonly extensions: ExtensionCatalog;
}

const protobuf = "application/vnd.kubernetes.protobuf";

export async function assembleApiServer(options: AssemblyOptions): Promise<AssembledServer> {
  const { host, directory, serviceCidr, dnsAddress, readsOnly } = options;
  const budgets = memoryBudgets();
  const limits = storageLimits(budgets);
  const storage =
    directory === undefined
      ? createMemoryStorage(host, limits)
      : openSqliteStorage({ ...host, directory, limits, readsOnly });
  const cidr = serviceCidr === undefined ? {} : { serviceCidr };
  const server = createApiServer({
    host,
    storage,
    builtin: withCrdStrategy([...builtinResources(), ...metricsResources]),
    admission: defaultAdmission({ ...cidr, ...(dnsAddress === undefined ? {} : { dnsAddress }) }),
    watchBytesMax: budgets.watch,
  });
  const stopExposing = exposeMemory(host.metrics, budgets, () => storage.use());
  server.bodyDecoders.set(protobuf, decodeProtobuf);
  const yamlThread = new YamlThread(host.clock);
  server.decodeYaml = yamlThread.decode;
  const rbac = new RbacAuthorizer({ reader: server.reader, storage });
  const nodes = new NodeAuthorizer({ reader: server.reader, storage, provisionersGroup: nodeAgentsGroup });
  const authorizer = unionAuthorizer(nodes, rbac);
  server.setAuthorizer(authorizer);
  server.addAdmission(
    createNodeRestriction(nodeAgentsGroup),
    createRbacEscalationPlugin(rbac),
    createCertificateAdmission(authorizer),
  );
  if (options.networkPolicyEnforced !== true) server.addAdmission(networkPolicyWarning);
  const tokens = new ServiceAccountTokens({
    ...host,
    reader: server.reader,
    ...(options.tokenKey === undefined ? {} : { key: options.tokenKey }),
  });
  const caller = httpsWebhookCaller({
    resolveService: serviceEndpoints(server.reader),
    ...(options.connectToPod === undefined ? {} : { connectToPod: options.connectToPod }),
  });
  const customResources = serveCustomResources(server, { host, storage, caller });
  const webhooks = serveWebhooks(server, { caller });
  const extensions = new ExtensionCatalog();
  addEndpoints(server, { host, storage, authorizer, rbac, tokens, extensions });
  if (readsOnly === undefined) await bootstrap({ storage, host }, cidr);
  const stop = async (): Promise<void> => {
    stopExposing();
    // Calls to webhooks may wait for other servers, so they are aborted first.
    webhooks[Symbol.dispose]();
    await close(server, customResources, storage);
    caller[Symbol.dispose]();
    await yamlThread[Symbol.asyncDispose]();
  };
  return { server, storage, authorizer, tokens, extensions, [Symbol.asyncDispose]: stop };
}

interface EndpointParts {
  readonly host: Host;
  readonly storage: Storage;
  readonly authorizer: Authorizer;
  readonly rbac: RbacAuthorizer;
  readonly tokens: ServiceAccountTokens;
  readonly extensions: ExtensionCatalog;
}

function addEndpoints(server: ApiServer, parts: EndpointParts): void {
  const { host, storage, authorizer, rbac, tokens, extensions } = parts;
  const { reader, registry } = server;
  server.addEndpoints(createTokenEndpoints({ clock: host.clock, reader, tokens }));
  server.addEndpoints(
    createReviewEndpoints({ authorizer, rulesFor: (user, namespace) => rbac.rulesFor(user, namespace) }),
  );
  server.addEndpoints(restrictNodeEvictions(builtinEndpoints({ host, reader, storage }), reader));
  const ping = { name: "ping", check() {} };
  const healthChecks = [ping, storageCheck(storage, host.clock)];
  server.addEndpoints(metricsEndpoint(host.metrics));
  server.addEndpoints(createDiscoveryEndpoints({ registry, clock: host.clock, healthChecks, extensions }));
}

async function close(server: ApiServer, customResources: CustomResources, storage: Storage): Promise<void> {
  await server[Symbol.asyncDispose]();
  await customResources.stop();
  await storage[Symbol.asyncDispose]();
}
