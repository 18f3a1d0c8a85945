/** Where the repositories of a name are served. */
import { parseImageReference } from "../image-reference.ts";
import { pullRefusal } from "./pull-refusal.ts";

export interface RegistryAddress {
  /** As image names write it: `docker.io`, `localhost:5000`. */
  readonly name: string;
  /** `https://registry-1.docker.io` */
  readonly origin: string;
  /** Of the repository in its registry: `library/nginx`. */
  readonly repository: string;
  readonly isLoopback: boolean;
}

/** The registries whose API has another host than image names say. */
const apiHosts: Readonly<Record<string, string>> = { "docker.io": "registry-1.docker.io" };
const redirectsMax = 5;

/** Plain HTTP only for a registry of this host: others on the way could read logins and change images. */
export function registryAddress(image: string): RegistryAddress {
  const { repository } = parseImageReference(image);
  const slash = repository.indexOf("/");
  const name = repository.slice(0, slash);
  const host = apiHosts[name] ?? name;
  const isLoopback = isLoopbackHost(host.replace(/:\d+$/, ""));
  const origin = `${isLoopback ? "http" : "https"}://${host}`;
  return { name, origin, repository: repository.slice(slash + 1), isLoopback };
}

/**
 * Whether a registry may send the node to this address, by a redirect or for a token: over HTTPS, or within
 * this host when the registry itself is there. A registry elsewhere must not reach services of this host.
 */
export function isAllowedTarget(target: URL, { isLoopback }: RegistryAddress): boolean {
  const { hostname, protocol } = target;
  if (isLoopback) return protocol === "https:" || (protocol === "http:" && isLoopbackHost(hostname));
  return protocol === "https:" && !isLoopbackHost(hostname);
}

/** HTTP of the host, as the platform has it. */
export type Fetch = typeof globalThis.fetch;

export interface Asking {
  readonly fetch: Fetch;
  readonly registry: RegistryAddress;
  readonly signal: AbortSignal | undefined;
}

/** Fetches, and follows redirects to allowed addresses. Another origin gets no credentials. */
export async function fetchFrom(
  asking: Asking,
  url: URL,
  headers: Readonly<Record<string, string>>,
): Promise<Response> {
  const { registry } = asking;
  let at = url;
  for (let redirects = 0; redirects <= redirectsMax; redirects++) {
    if (!isAllowedTarget(at, registry))
      throw pullRefusal(
        `registry "${registry.name}" refers to ${at.protocol}//${at.host}, where images may not come from`,
      );
    const { authorization, ...others } = headers;
    const own = at.origin === url.origin && authorization !== undefined ? { ...others, authorization } : others;
    const response = await reach(asking, at, own);
    const location = response.headers.get("location");
    if (![301, 302, 303, 307, 308].includes(response.status) || location === null) return response;
    await response.body?.cancel();
    at = locationOf(registry, location, at);
  }
  throw pullRefusal(`registry "${registry.name}" answers with more than ${redirectsMax} redirects`);
}

async function reach(
  { fetch, registry, signal }: Asking,
  at: URL,
  headers: Readonly<Record<string, string>>,
): Promise<Response> {
  try {
    return await fetch(at, { headers, redirect: "manual", ...(signal === undefined ? {} : { signal }) });
  } catch (error) {
    signal?.throwIfAborted();
    const { code = "no answer" } = ((error as Error).cause ?? {}) as { readonly code?: unknown };
    const where = at.host === new URL(registry.origin).host ? "" : ` at "${at.host}"`;
    // Not the error itself: it has the address, and a redirect's address may be a secret.
    throw pullRefusal(`registry "${registry.name}" cannot be reached${where} (${String(code)})`);
  }
}

function locationOf({ name }: RegistryAddress, location: string, base: URL): URL {
  const target = URL.parse(location, base);
  if (target !== null) return target;
  throw pullRefusal(`registry "${name}" redirects to an address that is none`);
}

function isLoopbackHost(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost") || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host);
}
