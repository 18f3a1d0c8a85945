/** URLs: `url(self.endpoint).getScheme() == 'https'`. */
import { readsFirst } from "../cost.ts";
import { member, plain, type Library, type Overload } from "../overload.ts";
import { CelFault, CelOpaque, PlainList, PlainMap, type Value } from "../value.ts";

const kind = "kubernetes.URL";

interface UrlParts {
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;
}

class CelUrl extends CelOpaque {
  readonly typeName = kind;
  readonly parts: UrlParts;
  readonly #text: string;

  constructor(text: string, parts: UrlParts) {
    super();
    this.#text = text;
    this.parts = parts;
  }

  equals(other: CelOpaque): boolean {
    return other instanceof CelUrl && other.#text === this.#text;
  }
}

const form = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/(?:[^/?#@]*@)?([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#.*)?$/s;

/** Absolute URLs and absolute paths, as Go's `url.ParseRequestURI` takes them; otherwise what is wrong. */
function parseUrl(text: string): UrlParts | string {
  const fail = (why: string): string => `parse ${JSON.stringify(text)}: ${why}`;
  if (text === "") return fail("empty url");
  if (/\p{Cc}/u.test(text)) return fail("net/url: invalid control character in URL");
  const [, scheme = "", host = "", path = "", query = ""] = form.exec(text) ?? [];
  if (scheme === "" && !text.startsWith("/")) return fail("invalid URI for request");
  const badEscape = /%(?![0-9a-fA-F]{2}).{0,2}/s.exec(path)?.[0];
  if (badEscape !== undefined) return fail(`invalid URL escape ${JSON.stringify(badEscape)}`);
  if (/[\s<>"]/.test(host)) return fail(`invalid character ${JSON.stringify(/[\s<>"]/.exec(host)?.[0])} in host name`);
  const port = /:([^:\]]*)$/.exec(host)?.[1];
  if (port !== undefined && !/^\d*$/.test(port)) return fail(`invalid port ${JSON.stringify(`:${port}`)} after host`);
  return { scheme: scheme.toLowerCase(), host, path, query };
}

function urlOf(text: string): Value {
  const parts = parseUrl(text);
  return typeof parts === "string"
    ? new CelFault(`URL parse error during conversion from string: ${parts}`)
    : new CelUrl(text, parts);
}

function reader(read: (parts: UrlParts) => Value): readonly Overload[] {
  return [
    member([kind], "string", (url) => (url instanceof CelUrl ? read(url.parts) : new CelFault("no such overload"))),
  ];
}

function hostName({ host }: UrlParts): string {
  return host.replace(/:\d*$/, "").replace(/^\[(.*)\]$/, "$1");
}

function escapedPath({ path }: UrlParts): string {
  return encodeURI(path).replaceAll("%25", "%");
}

function queryMap({ query }: UrlParts): PlainMap {
  const values = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(query)) values.set(name, [...(values.get(name) ?? []), value]);
  return new PlainMap(Array.from(values, ([name, list]) => [name, new PlainList(list)] as const));
}

export const urls: Library = {
  url: [plain(["string"], kind, urlOf, readsFirst)],
  isURL: [plain(["string"], "bool", (text) => typeof parseUrl(text) !== "string", readsFirst)],
  getScheme: reader(({ scheme }) => scheme),
  getHost: reader(({ host }) => host),
  getHostname: reader(hostName),
  getPort: reader(({ host }) => /:(\d*)$/.exec(host)?.[1] ?? ""),
  getEscapedPath: reader(escapedPath),
  getQuery: [
    member([kind], "map(string, list(string))", (url) =>
      url instanceof CelUrl ? queryMap(url.parts) : new CelFault("no such overload"),
    ),
  ],
};
