/** The configuration that a user keeps in a Secret: read, and checked as Alertmanager would; pure. */
import { type Document, isScalar, parseDocument, visit } from "yaml";
import { ConfigurationRefused, type Section, type Value } from "../generate/generation.ts";

/** For an Alertmanager whose user has given none: it takes alerts and tells nobody. */
export const defaultConfiguration = `route:
  receiver: 'null'
receivers:
- name: 'null'
`;

const field = "spec.configSecret";

const sections = new Set([
  ...["global", "route", "inhibit_rules", "receivers", "mute_time_intervals", "time_intervals", "templates", "tracing"],
]);

/** Throws `ConfigurationRefused` when Alertmanager would not load it: what runs stays as it is then. */
export function parseBase(text: string): Section {
  const document = parseDocument(text, { version: "1.1" });
  const [error] = document.errors;
  // The message of the parser quotes the text, which may be a password.
  if (error !== undefined) {
    const { line = 0, col = 0 } = error.linePos?.[0] ?? {};
    throw refused(`it is no YAML: ${error.code} in line ${line}, column ${col} of alertmanager.yaml`);
  }
  keepTexts(document);
  const value = document.toJS() as unknown;
  if (!isSection(value)) throw refused("alertmanager.yaml is no mapping");
  checkBase(value);
  return value;
}

/** Fields of Alertmanager that are flags; in all others, `yes` is a text. */
const flags = new Set([
  ...["continue", "send_resolved", "require_tls", "smtp_require_tls", "insecure_skip_verify", "follow_redirects"],
  ...["enable_http2", "proxy_from_environment", "short", "short_fields", "link_names", "update_alerts", "html"],
  ...["update_message", "disable_notifications", "monospace", "use_aws_http_client", "force_implicit_tls", "enabled"],
]);

/** What YAML 1.1 takes for a number or a flag, and Alertmanager for a text: `17:00`, `0123`, `yes`. */
function keepTexts(document: Document): void {
  visit(document, {
    Pair(_, { key, value }) {
      if (!isScalar(value) || typeof value.value !== "boolean") return;
      const isPlain = value.source === "true" || value.source === "false";
      if (!isPlain && !(isScalar(key) && flags.has(String(key.value)))) value.value = value.source;
    },
    Scalar(_, node) {
      const { value, source } = node;
      const isText = value === null || typeof value === "string" || typeof value === "boolean";
      if (!isText && source !== undefined && String(value) !== source) node.value = source;
    },
  });
}

function refused(message: string): ConfigurationRefused {
  return new ConfigurationRefused(field, message);
}

export function isSection(value: unknown): value is Section {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function listOf(value: Value | undefined): readonly Value[] {
  return Array.isArray(value) ? (value as readonly Value[]) : [];
}

function checkBase(base: Section): void {
  const unknown = Object.keys(base).find((name) => !sections.has(name));
  if (unknown !== undefined) throw refused(`Alertmanager knows no section "${unknown}"; remove it`);
  const { route } = base;
  if (!isSection(route)) throw refused("section route is missing");
  for (const name of ["matchers", "match", "match_re", "mute_time_intervals", "active_time_intervals"])
    if (Object.keys(route[name] ?? {}).length > 0) throw refused(`route.${name}: the root route cannot have it`);
  if (route["continue"] === true) throw refused("route.continue: the root route cannot have it");
  if (typeof route["receiver"] !== "string" || route["receiver"] === "")
    throw refused("route.receiver: expected the name of a receiver");
  const receivers = uniqueNames(base, "receivers");
  const intervals = new Set([...uniqueNames(base, "time_intervals"), ...uniqueNames(base, "mute_time_intervals")]);
  checkRoute(route, "route", { receivers, intervals });
}

function uniqueNames(base: Section, section: string): ReadonlySet<string> {
  const names = listOf(base[section]).map((each) => (isSection(each) ? each["name"] : undefined));
  const known = new Set<string>();
  for (const [index, name] of names.entries()) {
    if (typeof name !== "string" || name === "") throw refused(`${section}[${index}].name: expected a name`);
    if (known.has(name)) throw refused(`${section}[${index}].name: "${name}" is there twice; choose another name`);
    known.add(name);
  }
  return known;
}

interface Known {
  readonly receivers: ReadonlySet<string>;
  readonly intervals: ReadonlySet<string>;
}

function checkRoute(route: Section, path: string, known: Known): void {
  const { receiver } = route;
  if (typeof receiver === "string" && receiver !== "" && !known.receivers.has(receiver))
    throw refused(`${path}.receiver: there is no receiver "${receiver}"`);
  for (const list of ["mute_time_intervals", "active_time_intervals"])
    for (const name of listOf(route[list]))
      if (!known.intervals.has(String(name)))
        throw refused(`${path}.${list}: there is no time interval "${String(name)}"`);
  for (const [index, child] of listOf(route["routes"]).entries()) {
    if (!isSection(child)) throw refused(`${path}.routes[${index}]: expected a mapping`);
    checkRoute(child, `${path}.routes[${index}]`, known);
  }
}
