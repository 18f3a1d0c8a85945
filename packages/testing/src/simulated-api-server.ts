/** The embedded API server of a world: in memory, under virtual time, with RBAC, without sockets and keys. */
import type { Transport, UserInfo } from "@setpoint/apimachinery";
import {
  type ApiServer,
  bootstrap,
  builtinEndpoints,
  builtinResources,
  createApiServer,
  createDiscoveryEndpoints,
  createMemoryStorage,
  createOwnerReferencesPlugin,
  createRbacEscalationPlugin,
  createReviewEndpoints,
  defaultAdmission,
  RbacAuthorizer,
  serveCustomResources,
  serveWebhooks,
  type Storage,
  type StorageContents,
  type WebhookCaller,
  withCrdStrategy,
} from "@setpoint/apiserver";
import type { Host } from "@setpoint/host";

/** The server, as its different users see it. */
export interface SimulatedApiServer extends AsyncDisposable {
  transportAs(user: UserInfo): Transport;
  /** What is stored, for readers that bypass the API. */
  readonly storage: Pick<Storage, "get" | "list" | "watch" | "revision" | "write">;
  /** Everything that is stored now. */
  contents(): StorageContents;
}

/**
 * Everything about it follows from the host's clock and randomness, and from the contents; without contents
 * it is bootstrapped. It uses webhooks, also for conversion, and admission policies only when a webhook
 * server is there.
 */
export async function startSimulatedApiServer(
  host: Host,
  contents?: StorageContents,
  caller?: WebhookCaller,
): Promise<SimulatedApiServer> {
  const storage = createMemoryStorage({ ...host, ...(contents === undefined ? {} : { contents }) });
  const server = createApiServer({
    host,
    storage,
    builtin: withCrdStrategy(builtinResources()),
    // A world has volumes of every size, and no StorageClasses.
    admission: defaultAdmission({ claimResize: false }),
  });
  const authorizer = new RbacAuthorizer({ reader: server.reader, storage });
  server.setAuthorizer(authorizer);
  // Off in a default cluster, on in others: operators have to pass under the stricter rule.
  server.addAdmission(createRbacEscalationPlugin(authorizer), createOwnerReferencesPlugin(authorizer, server.registry));
  const asked = caller === undefined ? {} : { caller };
  const customResources = serveCustomResources(server, { host, storage, ...asked });
  const webhooks = caller === undefined ? undefined : serveWebhooks(server, { caller });
  addEndpoints(server, host, authorizer);
  if (contents === undefined) await bootstrap({ storage, host });
  return {
    transportAs: (user) => server.transport(user),
    storage,
    contents: () => storage.contents(),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await customResources.stop();
      webhooks?.[Symbol.dispose]();
      await storage[Symbol.asyncDispose]();
    },
  };
}

function addEndpoints(server: ApiServer, host: Host, authorizer: RbacAuthorizer): void {
  const { reader, registry, storage } = server;
  server.addEndpoints(
    createReviewEndpoints({ authorizer, rulesFor: (user, namespace) => authorizer.rulesFor(user, namespace) }),
  );
  server.addEndpoints(builtinEndpoints({ host, reader, storage }));
  server.addEndpoints(createDiscoveryEndpoints({ registry, clock: host.clock, healthChecks: [] }));
}
