/** kubeconfig files: finding, merging, choosing a context, and writing one. */
import { homedir } from "node:os";
import { delimiter, dirname, isAbsolute, join, resolve, sep } from "node:path";
import { decodeYamlText, messageOf, SetpointError } from "@setpoint/apimachinery";
import { parse, stringify } from "yaml";
import { lazyModules } from "./lazy-modules.ts";

/** The `cluster` section of a kubeconfig, field by field. */
export interface KubeconfigCluster {
  readonly server: string;
  readonly "certificate-authority"?: string;
  readonly "certificate-authority-data"?: string;
  readonly "insecure-skip-tls-verify"?: boolean;
  readonly "tls-server-name"?: string;
  readonly "proxy-url"?: string;
}

/** The `exec` section of a kubeconfig user. */
export interface ExecCredentialSpec {
  readonly apiVersion: string;
  readonly command: string;
  readonly args?: readonly string[] | null;
  readonly env?: readonly { readonly name: string; readonly value: string }[] | null;
  readonly provideClusterInfo?: boolean;
  readonly installHint?: string;
}

/** The `user` section of a kubeconfig, field by field. */
export interface KubeconfigUser {
  readonly "client-certificate"?: string;
  readonly "client-certificate-data"?: string;
  readonly "client-key"?: string;
  readonly "client-key-data"?: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly as?: string;
  readonly "as-uid"?: string;
  readonly "as-groups"?: readonly string[];
  readonly "as-user-extra"?: Readonly<Record<string, readonly string[]>>;
  readonly exec?: ExecCredentialSpec;
  readonly username?: string;
  readonly "auth-provider"?: unknown;
}

/** The `context` section of a kubeconfig: a cluster, a user and a default namespace. */
export interface KubeconfigContext {
  readonly cluster: string;
  readonly user: string;
  readonly namespace?: string;
}

/** Several files merged: of equal names the first wins, as in kubectl. Paths in it are absolute. */
export interface Kubeconfig {
  readonly currentContext: string | undefined;
  readonly clusters: ReadonlyMap<string, KubeconfigCluster>;
  readonly users: ReadonlyMap<string, KubeconfigUser>;
  readonly contexts: ReadonlyMap<string, KubeconfigContext>;
  /** The files that were read. */
  readonly files: readonly string[];
  /** The files that were named and do not exist. */
  readonly missing?: MissingFiles;
}

/** Where a kubeconfig was looked for in vain, and whether KUBECONFIG said so. */
interface MissingFiles {
  readonly paths: readonly string[];
  readonly isFromEnvironment: boolean;
}

/** Which kubeconfig files to read. */
export interface LoadKubeconfigOptions {
  /** Read only this file. */
  readonly path?: string;
  /** Default: the process's environment. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * Reads `path`, or the files of KUBECONFIG, or ~/.kube/config; files of a list that do not exist are left
 * out.
 */
export function loadKubeconfig(options: LoadKubeconfigOptions = {}): Kubeconfig {
  const env = options.env ?? process.env;
  if (options.path !== undefined) return mergeKubeconfigs([readKubeconfig(options.path)]);
  const listed = (env["KUBECONFIG"] ?? "").split(delimiter).filter((path) => path !== "");
  const paths = listed.length > 0 ? listed : [join(env["HOME"] ?? homedir(), ".kube", "config")];
  const { present = [], missing = [] } = Object.groupBy(paths, (path) =>
    lazyModules.fs().existsSync(path) ? "present" : "missing",
  );
  const config = mergeKubeconfigs(present.map(readKubeconfig));
  return missing.length === 0
    ? config
    : { ...config, missing: { paths: missing, isFromEnvironment: listed.length > 0 } };
}

function readKubeconfig(path: string): Kubeconfig {
  let bytes: Uint8Array;
  try {
    bytes = lazyModules.fs().readFileSync(path);
  } catch (cause) {
    throw kubeconfigError(`Cannot read kubeconfig "${path}": ${whyUnreadable(cause)}`, cause);
  }
  // Node's resolve looks at each character; over a long path that is often enough for V8 to load its
  // optimizing compiler, 2 MB.
  return parseKubeconfig(textOf(bytes, path), isAbsolute(path) ? path : resolve(path));
}

function textOf(bytes: Uint8Array, path: string): string {
  try {
    return decodeYamlText(bytes);
  } catch (cause) {
    throw kubeconfigError(`Cannot read kubeconfig "${path}": ${messageOf(cause)}`, cause);
  }
}

function whyUnreadable(cause: unknown): string {
  const { code } = cause as { readonly code?: unknown };
  if (code === "ENOENT") return `it does not exist; ${useOther}`;
  if (code === "EISDIR") return `it is a folder; ${useOther}`;
  if (code === "EACCES") return "this user may not read it; change its owner or its mode";
  return "it cannot be opened, expected a file";
}

const useOther = "name a kubeconfig file with --kubeconfig or KUBECONFIG";

/** Parses the text of one file; `path` is what relative paths in it are relative to. */
export function parseKubeconfig(text: string, path: string): Kubeconfig {
  let content: unknown;
  try {
    content = parseYaml(text);
  } catch (cause) {
    throw kubeconfigError(`Cannot read kubeconfig "${path}": it is not YAML`, cause);
  }
  // An empty file is an empty kubeconfig, as for kubectl.
  if (content !== null && (typeof content !== "object" || Array.isArray(content)))
    throw kubeconfigError(`Cannot read kubeconfig "${path}": it has no clusters, users and contexts; ${useOther}`);
  const root = recordOf(content);
  const current = root["current-context"];
  const absolute = (value: object): object => absolutePaths(value, dirname(path));
  return {
    currentContext: typeof current === "string" && current !== "" ? current : undefined,
    clusters: named<KubeconfigCluster>(root["clusters"], "cluster", absolute),
    users: named<KubeconfigUser>(root["users"], "user", absolute),
    contexts: named<KubeconfigContext>(root["contexts"], "context", absolute),
    files: [path],
  };
}

/** Certificates and keys: base64 of a thousand letters and more on one line. */
const longData = /(?<=-data["']?:[ \t]+["']?)[A-Za-z0-9+/]{256,}={0,2}/g;
const placeholder = "setpoint-long-data-";

/**
 * Parses YAML without the long data in it, which is put back afterwards: the parser looks at each letter in a
 * loop that is hot enough to start V8's optimizing compilers, for 6 MB and 20 ms of CPU in every process that
 * connects.
 */
function parseYaml(text: string): unknown {
  if (text.includes(placeholder)) return parse(text);
  const data: string[] = [];
  const short = text.replaceAll(longData, (each) => `${placeholder}${data.push(each) - 1}.`);
  const restored = (value: string): string =>
    value.replaceAll(/setpoint-long-data-(\d+)\./g, (_, i) => data[Number(i)] ?? "");
  return parse(short, (_, value: unknown) => (typeof value === "string" ? restored(value) : value));
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

/** The lists of a kubeconfig: `[{name, cluster: {…}}]`. The shape of an entry is checked where it is used. */
function named<T>(list: unknown, field: string, change: (value: object) => object): ReadonlyMap<string, T> {
  const entries = Array.isArray(list) ? list.map(recordOf) : [];
  return new Map(entries.map((entry) => [String(entry["name"]), change(recordOf(entry[field])) as T]));
}

const pathFields = ["certificate-authority", "client-certificate", "client-key", "tokenFile"];

function absolutePaths(value: object, folder: string): object {
  const copy: Record<string, unknown> = { ...value };
  for (const field of pathFields) {
    const path = copy[field];
    if (typeof path === "string" && path !== "") copy[field] = absolutePath(path, folder);
  }
  const { command, ...exec } = recordOf(copy["exec"]);
  // A name without a separator is looked up in PATH.
  if (typeof command === "string" && command.includes(sep))
    copy["exec"] = { ...exec, command: absolutePath(command, folder) };
  return copy;
}

function absolutePath(path: string, folder: string): string {
  return isAbsolute(path) ? path : resolve(folder, path);
}

/** Merges files as kubectl does: of equal names the first wins. */
export function mergeKubeconfigs(configs: readonly Kubeconfig[]): Kubeconfig {
  const merge = <T>(maps: readonly ReadonlyMap<string, T>[]): ReadonlyMap<string, T> =>
    new Map(maps.toReversed().flatMap((map) => [...map]));
  return {
    currentContext: configs.find((each) => each.currentContext !== undefined)?.currentContext,
    clusters: merge(configs.map((each) => each.clusters)),
    users: merge(configs.map((each) => each.users)),
    contexts: merge(configs.map((each) => each.contexts)),
    files: configs.flatMap((each) => each.files),
  };
}

/** A context with its cluster and user looked up. */
export interface SelectedContext {
  readonly name: string;
  readonly namespace: string | undefined;
  readonly cluster: KubeconfigCluster;
  readonly user: KubeconfigUser;
}

/** The cluster and user of a context, the current one when none is named. */
export function selectContext(config: Kubeconfig, context: string | undefined): SelectedContext {
  const name = context ?? config.currentContext;
  const files = config.files.join(", ");
  if (config.files.length === 0) throw kubeconfigError(`Cannot find a cluster: ${whyNone(config)}`);
  const known = [...config.contexts.keys()].join(", ");
  if (known === "") throw kubeconfigError(`Cannot find a cluster: kubeconfig (${files}) has no contexts; ${useOther}`);
  if (name === undefined) {
    throw kubeconfigError(
      `Cannot choose a context: kubeconfig (${files}) has no current-context, expected one of [${known}]`,
    );
  }
  const chosen = config.contexts.get(name);
  if (chosen === undefined) throw kubeconfigError(`Cannot use context "${name}": kubeconfig (${files}) has [${known}]`);
  const cluster = config.clusters.get(chosen.cluster);
  if (cluster === undefined) {
    throw kubeconfigError(
      `Cannot use context "${name}": its cluster "${chosen.cluster}" is not in kubeconfig (${files})`,
    );
  }
  const user = config.users.get(chosen.user);
  const isNamed = typeof chosen.user === "string" && chosen.user !== "";
  if (user === undefined && isNamed)
    throw kubeconfigError(`Cannot use context "${name}": its user "${chosen.user}" is not in kubeconfig (${files})`);
  return { name, namespace: chosen.namespace, cluster, user: user ?? {} };
}

/** A person who has started a cluster in another terminal has not yet named its kubeconfig in this one. */
function ownClusterHere(): string | undefined {
  const path = resolve(".setpoint", "kubeconfig");
  return lazyModules.fs().existsSync(path)
    ? `for the cluster that "setpoint up" starts in this folder, run: export KUBECONFIG="${path}"`
    : undefined;
}

function whyNone({ missing }: Kubeconfig): string {
  if (missing === undefined) return `there is no kubeconfig; ${useOther}`;
  const paths = missing.paths.map((path) => `"${path}"`).join(" and ");
  const verb = missing.paths.length === 1 ? "does" : "do";
  return missing.isFromEnvironment
    ? `KUBECONFIG names ${paths}, which ${verb} not exist; correct it, or unset it to use ~/.kube/config`
    : `${paths} does not exist and KUBECONFIG is not set; ${ownClusterHere() ?? `${useOther}, or start a cluster with "setpoint up"`}`;
}

export function kubeconfigError(message: string, cause?: unknown): SetpointError {
  return new SetpointError("ERR_KUBECONFIG", message, { cause });
}

/** What `writeKubeconfig` writes: one cluster with one user and one context. */
export interface KubeconfigContent {
  readonly server: string;
  /** PEM. */
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  /** The name of context, cluster and user. */
  readonly context: string;
  readonly namespace?: string;
}

/** The text of a kubeconfig with one context and everything in it. */
export function writeKubeconfig({ server, ca, cert, key, context, namespace }: KubeconfigContent): string {
  const data = (pem: string): string => Buffer.from(pem).toString("base64");
  const inner = { cluster: context, user: context, ...(namespace === undefined ? {} : { namespace }) };
  const user = { "client-certificate-data": data(cert), "client-key-data": data(key) };
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: context, cluster: { server, "certificate-authority-data": data(ca) } }],
    users: [{ name: context, user }],
    contexts: [{ name: context, context: inner }],
    "current-context": context,
  };
  return stringify(config, { lineWidth: 0 });
}
