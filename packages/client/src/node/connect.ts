/** From a kubeconfig, or from the files that a pod is given, to a connection. */
import type { Clock } from "@setpoint/host";
import type { HttpConnection, Impersonation } from "./connection-options.ts";
import { execCredential } from "./exec-credential.ts";
import { type HttpTransport, httpTransport } from "./http-transport.ts";
import {
  kubeconfigError,
  type KubeconfigCluster,
  type KubeconfigUser,
  loadKubeconfig,
  type SelectedContext,
  selectContext,
} from "./kubeconfig.ts";
import { lazyModules } from "./lazy-modules.ts";
import { proxyOfEnvironment } from "./proxy.ts";

/** Where to look for the cluster's address and credentials. */
export interface ConnectOptions {
  readonly clock: Clock;
  /** Read only this kubeconfig. */
  readonly kubeconfig?: string;
  /** Default: the current context. */
  readonly context?: string;
  /** `auto` (default): in-cluster when the environment of a pod is there and no kubeconfig is named. */
  readonly source?: "auto" | "kubeconfig" | "in-cluster";
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly userAgent?: string;
  readonly impersonate?: Impersonation;
}

/** The connection and the default namespace that `ConnectOptions` lead to. */
export interface ResolvedConnection {
  readonly connection: HttpConnection;
  /** The namespace of the context or the pod; `default` when neither names one. */
  readonly namespace: string;
}

/** A transport to the cluster that kubectl would talk to, or to the one that this pod runs in. */
export function connect(options: ConnectOptions): HttpTransport {
  return httpTransport(resolveConnection(options).connection);
}

/** Where `connect` would connect: for exec, and for callers that need the namespace. */
export function resolveConnection(options: ConnectOptions): ResolvedConnection {
  const resolved = isInCluster(options) ? inClusterConnection(options) : fromKubeconfig(options);
  const { userAgent, impersonate } = options;
  const own = {
    ...(userAgent === undefined ? {} : { userAgent }),
    ...(impersonate === undefined ? {} : { impersonate }),
  };
  return { ...resolved, connection: { ...resolved.connection, ...own } };
}

const accountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";

function isInCluster({ source = "auto", kubeconfig, context, env = process.env }: ConnectOptions): boolean {
  if (source !== "auto") return source === "in-cluster";
  if (kubeconfig !== undefined || context !== undefined || (env["KUBECONFIG"] ?? "") !== "") return false;
  return env["KUBERNETES_SERVICE_HOST"] !== undefined && lazyModules.fs().existsSync(`${accountFolder}/token`);
}

function inClusterConnection({ clock, env = process.env }: ConnectOptions): ResolvedConnection {
  const host = env["KUBERNETES_SERVICE_HOST"];
  const port = env["KUBERNETES_SERVICE_PORT"];
  if (host === undefined || port === undefined) {
    const message =
      "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set, expected the environment of a pod";
    throw kubeconfigError(`Cannot connect in-cluster: ${message}`);
  }
  const server = `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const namespaceFile = `${accountFolder}/namespace`;
  const namespace = lazyModules.fs().existsSync(namespaceFile)
    ? lazyModules.fs().readFileSync(namespaceFile, "utf8").trim()
    : "default";
  const caFile = `${accountFolder}/ca.crt`;
  // Read now too: a pod without it should say so at its start.
  readPem(caFile);
  return { connection: { server, clock, caFile, tokenFile: `${accountFolder}/token` }, namespace };
}

function fromKubeconfig({ clock, kubeconfig, context, env }: ConnectOptions): ResolvedConnection {
  const config = loadKubeconfig({
    ...(kubeconfig === undefined ? {} : { path: kubeconfig }),
    ...(env === undefined ? {} : { env }),
  });
  const selected = selectContext(config, context);
  const connection = connectionOf(selected, clock, env ?? process.env);
  return { connection, namespace: selected.namespace ?? "default" };
}

function connectionOf(
  { name, cluster, user }: SelectedContext,
  clock: Clock,
  env: Readonly<Record<string, string | undefined>>,
): HttpConnection {
  refuseUnsupported(name, cluster, user);
  const ca = pemOf(cluster["certificate-authority-data"], cluster["certificate-authority"]);
  const cert = pemOf(user["client-certificate-data"], user["client-certificate"]);
  const key = pemOf(user["client-key-data"], user["client-key"]);
  const impersonate = impersonationOf(user);
  const serverName = cluster["tls-server-name"];
  const proxy = cluster["proxy-url"] ?? proxyOfEnvironment(cluster.server, env);
  return {
    server: cluster.server,
    clock,
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(serverName === undefined ? {} : { serverName }),
    ...(proxy === undefined ? {} : { proxy }),
    ...(cluster["insecure-skip-tls-verify"] === true ? { insecureSkipTlsVerify: true } : {}),
    ...(user.token === undefined ? {} : { token: user.token }),
    ...(user.tokenFile === undefined ? {} : { tokenFile: user.tokenFile }),
    ...(user.exec === undefined ? {} : { credential: pluginOf(user.exec, cluster, clock, ca) }),
    ...(impersonate === undefined ? {} : { impersonate }),
  };
}

function pluginOf(
  spec: NonNullable<KubeconfigUser["exec"]>,
  cluster: KubeconfigCluster,
  clock: Clock,
  ca: string | undefined,
): NonNullable<HttpConnection["credential"]> {
  const data = ca === undefined ? {} : { "certificate-authority-data": Buffer.from(ca).toString("base64") };
  return execCredential({ clock, spec, cluster: { server: cluster.server, ...data } });
}

function refuseUnsupported(name: string, cluster: KubeconfigCluster, user: KubeconfigUser): void {
  const cannot = `Cannot use context "${name}"`;
  if (typeof cluster.server !== "string" || cluster.server === "") {
    throw kubeconfigError(`${cannot}: its cluster has no server, expected a URL`);
  }
  if (!/^https?:\/\//.test(cluster.server) || !URL.canParse(cluster.server)) {
    throw kubeconfigError(
      `${cannot}: the server of its cluster is "${cluster.server}", expected a URL such as https://127.0.0.1:6443`,
    );
  }
  const proxy = cluster["proxy-url"];
  if (proxy !== undefined && !/^https?:\/\//.test(proxy)) {
    throw kubeconfigError(`${cannot}: its proxy-url is "${proxy}", expected http:// or https://`);
  }
  if (user.username !== undefined) {
    throw kubeconfigError(`${cannot}: user name and password are not supported, expected a certificate, token or exec`);
  }
  if (user["auth-provider"] !== undefined) {
    throw kubeconfigError(`${cannot}: auth-provider plugins were removed from Kubernetes, expected an exec plugin`);
  }
}

function impersonationOf(user: KubeconfigUser): Impersonation | undefined {
  if (user.as === undefined) return undefined;
  const { "as-groups": groups, "as-uid": uid, "as-user-extra": extra } = user;
  return {
    user: user.as,
    ...(groups === undefined ? {} : { groups }),
    ...(uid === undefined ? {} : { uid }),
    ...(extra === undefined ? {} : { extra }),
  };
}

/** Data wins over a file, as in kubectl. */
function pemOf(data: string | undefined, file: string | undefined): string | undefined {
  if (data !== undefined && data !== "") return Buffer.from(data, "base64").toString("utf8");
  return file === undefined || file === "" ? undefined : readPem(file);
}

function readPem(path: string): string {
  try {
    return lazyModules.fs().readFileSync(path, "utf8");
  } catch (cause) {
    throw kubeconfigError(`Cannot read "${path}": it cannot be opened, expected a PEM file`, cause);
  }
}
