/**
 * Keeps what is known about extension servers: whether each answers, which is the condition `Available` of
 * its APIService, and what it serves, which is discovery.
 */
import { type ApiResponse, isJsonObject, messageOf, type Transport, type UserInfo } from "@setpoint/apimachinery";
import { type Clock, type Host, sleep, timestamp } from "@setpoint/host";
import type { DiscoveredResource, ExtensionCatalog, ExtensionContents } from "../aggregation/extension-catalog.ts";
import { type ExtensionService, listExtensions } from "../aggregation/extension-service.ts";
import { objectsAt, stringAt } from "../registry/json-fields.ts";
import type { ObjectReader } from "../registry/object-reader.ts";
import type { Verb } from "../registry/resource-definition.ts";
import type { ForwardToExtension } from "./extension-proxy.ts";

/** How the keeper reads APIServices, asks extension servers and writes conditions. */
export interface ExtensionKeeperOptions {
  readonly host: Host;
  readonly reader: ObjectReader;
  readonly forward: ForwardToExtension;
  readonly catalog: ExtensionCatalog;
  /** Writes the status of APIServices. */
  readonly transport: Transport;
}

/** As upstream's aggregator names itself to extension servers. */
const keeper: UserInfo = { username: "system:kube-aggregator", groups: ["system:masters"] };
const checkMs = 1_000;
/** A new one is asked at once: clients that create it read discovery right after. */
const lookMs = 100;
const answerMsMax = 5_000;

/** Checks all extension servers until the result is disposed. */
export function keepExtensions(options: ExtensionKeeperOptions): AsyncDisposable {
  const stopping = new AbortController();
  const ended = run(options, stopping.signal);
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort(new Error("the API server stops"));
      await ended;
    },
  };
}

async function run(options: ExtensionKeeperOptions, signal: AbortSignal): Promise<void> {
  const { host, catalog, reader } = options;
  while (!signal.aborted) {
    try {
      const asked = new Set(listExtensions(reader).map(({ name }) => name));
      catalog.replace(await checkAll(options, signal));
      const hasNew = (): boolean => listExtensions(reader).some(({ name }) => !asked.has(name));
      for (let waitedMs = 0; waitedMs < checkMs && !hasNew(); waitedMs += lookMs)
        await sleep(host.clock, lookMs, signal);
    } catch (error) {
      if (!signal.aborted) host.log.error("Extension servers not checked", { error });
    }
  }
}

/** What those serve that answer. */
async function checkAll(
  options: ExtensionKeeperOptions,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, ExtensionContents>> {
  const found = new Map<string, ExtensionContents>();
  const check = async (extension: ExtensionService): Promise<void> => {
    const contents = await readContents(options, extension, signal).catch((error: unknown) => messageOf(error));
    if (signal.aborted) return;
    if (typeof contents !== "string") found.set(extension.name, contents);
    await reportAvailable(options, extension, typeof contents === "string" ? contents : undefined);
  };
  await Promise.all(listExtensions(options.reader).map(check));
  return found;
}

async function readContents(
  { forward, host }: ExtensionKeeperOptions,
  extension: ExtensionService,
  signal: AbortSignal,
): Promise<ExtensionContents> {
  const { group, version } = extension;
  const read = async (path: string): Promise<Readonly<Record<string, unknown>> | undefined> => {
    const late = deadline(host.clock, signal);
    try {
      const headers = { accept: "application/json" };
      return objectOf(await forward(extension, { method: "GET", path, headers }, keeper, late.signal));
    } finally {
      late[Symbol.dispose]();
    }
  };
  const list = await read(`/apis/${group}/${version}`);
  if (list === undefined) throw new Error("the answer to discovery is no list of resources");
  const key = `apis/${group}/${version}`;
  const index = await read("/openapi/v3").catch(() => undefined);
  const url = stringAt(index, "paths", key, "serverRelativeURL");
  const resources = resourcesOf(extension, objectsAt(list, "resources"));
  return url === "" ? { resources } : { resources, document: { key, url } };
}

function objectOf(answer: ApiResponse): Readonly<Record<string, unknown>> | undefined {
  if (answer.status !== 200) throw new Error(`bad status from the extension server: ${answer.status}`);
  return answer.kind === "object" && isJsonObject(answer.object) ? answer.object : undefined;
}

function deadline(clock: Clock, signal: AbortSignal): Disposable & { readonly signal: AbortSignal } {
  const late = new AbortController();
  const timer = clock.setTimer(() => late.abort(new Error(`no answer after ${answerMsMax} ms`)), answerMsMax);
  return { signal: AbortSignal.any([signal, late.signal]), [Symbol.dispose]: () => timer.cancel() };
}

type Entry = Readonly<Record<string, unknown>>;

function resourcesOf({ group, version }: ExtensionService, entries: readonly Entry[]): readonly DiscoveredResource[] {
  const subs = entries.filter((each) => stringAt(each, "name").includes("/"));
  return entries
    .filter((each) => !subs.includes(each))
    .map((each) => ({
      group,
      version,
      resource: stringAt(each, "name"),
      singular: stringAt(each, "singularName"),
      kind: stringAt(each, "kind"),
      namespaced: each["namespaced"] === true,
      verbs: verbsOf(each),
      shortNames: textsAt(each, "shortNames"),
      categories: textsAt(each, "categories"),
      subresources: subs
        .filter((sub) => stringAt(sub, "name").startsWith(`${stringAt(each, "name")}/`))
        .map((sub) => subresourceOf(sub, { group, version })),
      custom: false,
      storageVersion: version,
    }));
}

function subresourceOf(entry: Entry, own: { readonly group: string; readonly version: string }) {
  const named = stringAt(entry, "group") !== "" || stringAt(entry, "version") !== "";
  const place = named ? { group: stringAt(entry, "group"), version: stringAt(entry, "version") } : own;
  const name = stringAt(entry, "name").split("/").slice(1).join("/");
  return { name, kind: { ...place, kind: stringAt(entry, "kind") }, verbs: verbsOf(entry) };
}

function textsAt(entry: Entry, field: string): readonly string[] {
  const value = entry[field];
  return Array.isArray(value) ? value.map(String) : [];
}

// The verbs of other servers are those of the API.
const verbsOf = (entry: Entry): readonly Verb[] => textsAt(entry, "verbs") as readonly Verb[];

async function reportAvailable(
  { reader, transport, host }: ExtensionKeeperOptions,
  { name }: ExtensionService,
  why: string | undefined,
): Promise<void> {
  const present = reader.get("apiregistration.k8s.io", "apiservices", "", name);
  if (present === undefined) return;
  const conditions = objectsAt(present, "status", "conditions");
  const old = conditions.find((each) => each["type"] === "Available");
  const wanted = why === undefined ? available : unavailable(why);
  if (old?.["status"] === wanted.status && old["reason"] === wanted.reason) return;
  const others = conditions.filter((each) => each !== old);
  const condition = { type: "Available", ...wanted, lastTransitionTime: timestamp(host.clock) };
  await transport.send({
    method: "PATCH",
    path: `/apis/apiregistration.k8s.io/v1/apiservices/${name}/status`,
    headers: { "content-type": "application/merge-patch+json" },
    body: { status: { conditions: [...others, condition] } },
  });
}

const available = { status: "True", reason: "Passed", message: "all checks passed" };

function unavailable(why: string): { readonly status: string; readonly reason: string; readonly message: string } {
  const reason = /service ".*" not found/.test(why)
    ? "ServiceNotFound"
    : why.includes("no endpoints available")
      ? "MissingEndpoints"
      : "FailedDiscoveryCheck";
  return { status: "False", reason, message: why };
}
