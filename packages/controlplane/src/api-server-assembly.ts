/** Puts the parts of the API server together: storage, built-in kinds, CRDs, discovery, admission, authorization. */
import {
  type ApiServer,
  bootstrap,
  builtinEndpoints,
  builtinResources,
  createApiServer,
  createDiscoveryEndpoints,
  createMemoryStorage,
  type CustomResources,
  decodeProtobuf,
  defaultAdmission,
  serveCustomResources,
  serveWebhooks,
  type Storage,
  storageCheck,
  withCrdStrategy,
} from "@setpoint/apiserver";
import {
  createRbacEscalationPlugin,
  createReviewEndpoints,
  createTokenEndpoints,
  httpsWebhookCaller,
  RbacAuthorizer,
  ServiceAccountTokens,
  serviceEndpoints,
} from "@setpoint/apiserver/http";
import { openSqliteStorage } from "@setpoint/apiserver/sqlite";
import type { Host } from "@setpoint/host";

export interface AssemblyOptions {
  readonly host: Host;
  /** Absent: in memory. */
  readonly directory?: string;
  readonly serviceCidr?: string;
  /** PEM of the key that signs service-account tokens; absent: a new one. */
  readonly tokenKey?: string;
}

/** The API server with everything that belongs to it. */
export interface AssembledServer extends AsyncDisposable {
  readonly server: ApiServer;
  readonly storage: Storage;
  readonly authorizer: RbacAuthorizer;
  readonly tokens: ServiceAccountTokens;
}

const protobuf = "application/vnd.kubernetes.protobuf";

export async function assembleApiServer(options: AssemblyOptions): Promise<AssembledServer> {
  const { host, directory, serviceCidr } = options;
  const storage = directory === undefined ? createMemoryStorage(host) : openSqliteStorage({ ...host, directory });
  const cidr = serviceCidr === undefined ? {} : { serviceCidr };
  const server = createApiServer({
    host,
    storage,
    builtin: withCrdStrategy(builtinResources()),
    admission: defaultAdmission(cidr),
  });
  server.bodyDecoders.set(protobuf, decodeProtobuf);
  const authorizer = new RbacAuthorizer({ reader: server.reader, storage });
  server.setAuthorizer(authorizer);
  server.addAdmission(createRbacEscalationPlugin(authorizer));
  const tokens = new ServiceAccountTokens({
    ...host,
    reader: server.reader,
    ...(options.tokenKey === undefined ? {} : { key: options.tokenKey }),
  });
  const caller = httpsWebhookCaller({ resolveService: serviceEndpoints(server.reader) });
  const customResources = serveCustomResources(server, { host, storage, caller });
  const webhooks = serveWebhooks(server, { caller });
  addEndpoints(server, { host, storage, authorizer, tokens });
  await bootstrap({ storage, host }, cidr);
  const stop = async (): Promise<void> => {
    // First those who may be waiting for somebody else.
    webhooks[Symbol.dispose]();
    await close(server, customResources, storage);
    caller[Symbol.dispose]();
  };
  return { server, storage, authorizer, tokens, [Symbol.asyncDispose]: stop };
}

interface EndpointParts {
  readonly host: Host;
  readonly storage: Storage;
  readonly authorizer: RbacAuthorizer;
  readonly tokens: ServiceAccountTokens;
}

function addEndpoints(server: ApiServer, { host, storage, authorizer, tokens }: EndpointParts): void {
  const { reader, registry } = server;
  server.addEndpoints(createTokenEndpoints({ clock: host.clock, reader, tokens }));
  server.addEndpoints(
    createReviewEndpoints({ authorizer, rulesFor: (user, namespace) => authorizer.rulesFor(user, namespace) }),
  );
  server.addEndpoints(builtinEndpoints({ host, reader, storage }));
  const ping = { name: "ping", check() {} };
  const healthChecks = [ping, storageCheck(storage, host.clock)];
  server.addEndpoints(createDiscoveryEndpoints({ registry, clock: host.clock, healthChecks }));
}

async function close(server: ApiServer, customResources: CustomResources, storage: Storage): Promise<void> {
  await server[Symbol.asyncDispose]();
  await customResources.stop();
  await storage[Symbol.asyncDispose]();
}
