/** Whether an AlertmanagerConfig can be part of a configuration: what no conversion of a field finds. */
import { given } from "../generate/generation.ts";
import { isAtLeast, type Version } from "../generate/version.ts";
import {
  type AlertmanagerConfig,
  type Matcher,
  type Receiver,
  type Route,
  routeSchema,
} from "../kind/alertmanager-config.ts";
import { firstRefusal, refuse, type Refusal, within } from "../select/refusal.ts";
import { hasNewMatchers } from "./matchers.ts";
import { childRoutes } from "./routes.ts";

export function checkConfig(version: Version, { spec }: AlertmanagerConfig): Refusal | undefined {
  const receivers = spec.receivers ?? [];
  const names = receivers.map(({ name }) => name);
  const twice = names.findIndex((name, index) => names.indexOf(name) !== index);
  const known: Known = {
    receivers: new Set(names),
    intervals: new Set((spec.muteTimeIntervals ?? []).map(({ name }) => name)),
  };
  return firstRefusal([
    twice < 0 ? undefined : refuse(`spec.receivers[${twice}].name`, `"${names[twice] ?? ""}" is there twice`),
    ...receivers.map((receiver, index) => within(`spec.receivers[${index}]`, checkReceiver(version, receiver))),
    spec.route === undefined ? undefined : checkRoute(version, spec.route, "spec.route", known, true),
    ...(spec.inhibitRules ?? []).map((rule, index) =>
      within(
        `spec.inhibitRules[${index}]`,
        checkMatchers(version, [...(rule.sourceMatch ?? []), ...(rule.targetMatch ?? [])]),
      ),
    ),
  ]);
}

interface Known {
  readonly receivers: ReadonlySet<string>;
  readonly intervals: ReadonlySet<string>;
}

function checkRoute(version: Version, route: Route, path: string, known: Known, isTop: boolean): Refusal | undefined {
  const receiver = given(route.receiver);
  const groups = route.groupBy ?? [];
  const unknown = [...(route.muteTimeIntervals ?? []), ...(route.activeTimeIntervals ?? [])].find(
    (name) => !known.intervals.has(name),
  );
  const misspelt = Object.keys(route).find((name) => !routeFields.has(name));
  return firstRefusal([
    receiver === undefined && isTop ? refuse(`${path}.receiver`, "expected the name of a receiver") : undefined,
    receiver !== undefined && !known.receivers.has(receiver)
      ? refuse(`${path}.receiver`, `there is no receiver "${receiver}" in spec.receivers`)
      : undefined,
    new Set(groups).size < groups.length ? refuse(`${path}.groupBy`, "a label is there twice") : undefined,
    groups.includes("...") && groups.length > 1
      ? refuse(`${path}.groupBy`, '"..." means all labels; remove the others')
      : undefined,
    unknown === undefined
      ? undefined
      : refuse(`${path}.muteTimeIntervals`, `there is no time interval "${unknown}" in spec.muteTimeIntervals`),
    within(path, checkMatchers(version, route.matchers ?? [])),
    !isTop && misspelt !== undefined ? refuse(`${path}.${misspelt}`, "a route has no such field") : undefined,
    ...childRoutes(route).map((child, index) => checkChild(version, child, `${path}.routes[${index}]`, known)),
  ]);
}

/** The schema of the kind cannot describe routes below the first: here their fields are checked. */
function checkChild(version: Version, child: unknown, path: string, known: Known): Refusal | undefined {
  const parsed = routeSchema.safeParse(child);
  if (parsed.success) return checkRoute(version, parsed.data, path, known, false);
  const [issue] = parsed.error.issues;
  return refuse([path, ...(issue?.path ?? []).map(String)].join("."), issue?.message ?? "it is no route");
}

const routeFields = new Set([
  ...["receiver", "groupBy", "groupWait", "groupInterval", "repeatInterval", "matchers", "continue", "routes"],
  ...["muteTimeIntervals", "activeTimeIntervals"],
]);

function checkMatchers(version: Version, matchers: readonly Matcher[]): Refusal | undefined {
  const isNew = matchers.some(({ matchType }) => matchType !== undefined);
  if (isNew && !hasNewMatchers(version)) return refuse("matchers", "matchType needs Alertmanager 0.22.0 or newer");
  const nameless = matchers.some(({ name }) => name.trim() === "");
  return nameless ? refuse("matchers", "expected the name of a label") : undefined;
}

type Integration = Readonly<Record<string, unknown>>;

function checkReceiver(version: Version, receiver: Receiver): Refusal | undefined {
  return firstRefusal(
    Object.entries(receiver).flatMap(([list, items]) =>
      (Array.isArray(items) ? (items as readonly Integration[]) : []).map((each, index) =>
        within(
          `${list}[${index}]`,
          firstRefusal([needs(list, each), tooNew(version, list, each), particular(list, each)]),
        ),
      ),
    ),
  );
}

/** Of each row, a receiver needs at least one field. */
const needed: Readonly<Record<string, readonly (readonly string[])[]>> = {
  pagerdutyConfigs: [["routingKey", "serviceKey"]],
  webhookConfigs: [["url", "urlSecret"]],
  emailConfigs: [["to"]],
  victoropsConfigs: [["routingKey"]],
  pushoverConfigs: [["userKey"], ["token"]],
  snsConfigs: [["targetARN", "topicARN", "phoneNumber"]],
  telegramConfigs: [["botToken", "botTokenFile"], ["chatID"]],
  discordConfigs: [["apiURL"]],
  msteamsConfigs: [["webhookUrl"]],
  webexConfigs: [["roomID"]],
  rocketchatConfigs: [["token"], ["tokenID"]],
};

function needs(list: string, integration: Integration): Refusal | undefined {
  const isGiven = (name: string): boolean => ![undefined, "", 0].includes(integration[name] as string | number);
  const missing = (needed[list] ?? []).find((names) => !names.some(isGiven));
  return missing && refuse(missing[0] ?? "", `expected ${missing.join(" or ")}`);
}

/** Fields that an older Alertmanager lacks, where leaving them out would change what users see. */
const since: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  slackConfigs: { messageText: "0.31.0", updateMessage: "0.32.0" },
  webhookConfigs: { payload: "0.32.0" },
  emailConfigs: { forceImplicitTLS: "0.31.0", threading: "0.30.0" },
  snsConfigs: { useAWSHTTPClient: "0.33.0" },
  telegramConfigs: { botTokenFile: "0.26.0" },
};

function tooNew(version: Version, list: string, integration: Integration): Refusal | undefined {
  const found = Object.entries(since[list] ?? {}).find(
    ([name, minimum]) => integration[name] !== undefined && !isAtLeast(version, minimum),
  );
  return found && refuse(found[0], `it needs Alertmanager ${found[1]} or newer`);
}

const reserved = new Set([
  ...["routing_key", "message_type", "state_message", "entity_display_name", "monitoring_tool"],
  ...["entity_id", "entity_state"],
]);

function particular(list: string, integration: Integration): Refusal | undefined {
  type Pairs = readonly { readonly key: string }[];
  if (list === "victoropsConfigs") {
    const taken = ((integration["customFields"] ?? []) as Pairs).find(({ key }) => reserved.has(key));
    return taken && refuse("customFields", `"${taken.key}" is a field of its own; choose another name`);
  }
  if (list === "telegramConfigs" && integration["botToken"] !== undefined && integration["botTokenFile"] !== undefined)
    return refuse("botTokenFile", "it cannot be combined with botToken; use one of them");
  if (list !== "emailConfigs") return undefined;
  const headers = ((integration["headers"] ?? []) as Pairs).map(({ key }) => key.toLowerCase());
  if (new Set(headers).size < headers.length) return refuse("headers", "a header is there twice");
  const host = integration["smarthost"];
  return typeof host !== "string" || /^(?:\[[^\]]+\]|[^:]*):[^:]+$/.test(host)
    ? undefined
    : refuse("smarthost", `expected HOST:PORT, got "${host}"`);
}
