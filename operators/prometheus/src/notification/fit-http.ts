/** Fits the settings of HTTP clients to the version of Alertmanager; pure. */
import { ConfigurationRefused, type Section } from "../generate/generation.ts";
import { isAtLeast } from "../generate/version.ts";
import { isSection } from "./base-configuration.ts";
import type { Fitting } from "./fitting.ts";

const reservedHeaders = new Set([
  ...["authorization", "host", "content-encoding", "content-length", "content-type", "user-agent", "connection"],
  ...["keep-alive", "proxy-authenticate", "proxy-authorization", "www-authenticate", "accept-encoding"],
  ...["x-prometheus-remote-write-version", "x-prometheus-remote-read-version"],
  ...["x-prometheus-scrape-timeout-seconds", "x-amz-date", "x-amz-security-token", "x-amz-content-sha256"],
]);

const tlsVersions = ["", "TLS10", "TLS11", "TLS12", "TLS13"];

export function fitHttp(fitting: Fitting, http: Section, path: string): Section {
  for (const name of ["authorization", "oauth2"])
    if (isSection(http[name]) && !isAtLeast(fitting.version, "0.22.0"))
      throw new ConfigurationRefused(`${path}.${name}`, "it needs Alertmanager 0.22.0 or newer");
  const header = Object.keys(http["http_headers"] ?? {}).find((name) => reservedHeaders.has(name.toLowerCase()));
  if (header !== undefined)
    throw new ConfigurationRefused(`${path}.http_headers`, `Alertmanager itself sets "${header}"; remove it`);
  const known = without(fitting, http, path, "0.22.0", ["follow_redirects"]);
  const newer = without(fitting, known, path, "0.25.0", ["enable_http2"]);
  const newest = without(fitting, newer, path, "0.28.0", ["http_headers"]);
  const { tls_config: tls, oauth2 } = newest;
  return {
    ...fitProxy(fitting, newest, path),
    ...(isSection(tls) ? { tls_config: fitTls(fitting, tls, `${path}.tls_config`) } : {}),
    ...(isSection(oauth2)
      ? { oauth2: without(fitting, oauth2, `${path}.oauth2`, "0.25.0", ["proxy_url", ...proxyFields]) }
      : {}),
  };
}

const proxyFields = ["no_proxy", "proxy_from_environment", "proxy_connect_header"];

function without(
  { version, report }: Fitting,
  section: Section,
  path: string,
  since: string,
  names: readonly string[],
): Section {
  if (isAtLeast(version, since)) return section;
  for (const name of names)
    if (section[name] !== undefined)
      report(`${path}.${name}`, `ignored, because it needs Alertmanager ${since} or newer`);
  return Object.fromEntries(Object.entries(section).filter(([name]) => !names.includes(name)));
}

function fitProxy(fitting: Fitting, section: Section, path: string): Section {
  if (!isAtLeast(fitting.version, "0.26.0")) return without(fitting, section, path, "0.26.0", proxyFields);
  const { proxy_url: url = "", no_proxy: none = "", proxy_from_environment: fromEnvironment } = section;
  const refuse = (name: string, message: string): never => {
    throw new ConfigurationRefused(`${path}.${name}`, message);
  };
  const hasHeader = Object.keys(section["proxy_connect_header"] ?? {}).length > 0;
  if (hasHeader && fromEnvironment !== true && url === "")
    refuse("proxy_connect_header", "it needs proxy_url or proxy_from_environment");
  if (fromEnvironment === true && url !== "") refuse("proxy_url", "it cannot be combined with proxy_from_environment");
  if (fromEnvironment === true && none !== "") refuse("no_proxy", "it cannot be combined with proxy_from_environment");
  if (url === "" && none !== "") refuse("no_proxy", "it needs proxy_url");
  return section;
}

export function fitTls(fitting: Fitting, tls: Section, path: string): Section {
  const fitted = without(fitting, tls, path, "0.25.0", ["min_version", "max_version"]);
  const index = (name: string): number => {
    const text = fitted[name] ?? "";
    const found = tlsVersions.indexOf(String(text));
    if (found < 0)
      throw new ConfigurationRefused(`${path}.${name}`, `expected one of ${tlsVersions.slice(1).join(", ")}`);
    return found;
  };
  const [first, last] = [index("min_version"), index("max_version")];
  if (first > 0 && last > 0 && first > last)
    throw new ConfigurationRefused(`${path}.max_version`, "expected at least min_version");
  return fitted;
}
