/** The kind AlertmanagerConfig: routes, receivers and inhibitions of one team. */
import { defineKind, type ObjectOf } from "setpoint";
import { preserved } from "setpoint/kinds";
import { z } from "zod";
import { receiverHttpFields } from "./alertmanager-global.ts";
import { safeTls, sigv4 } from "./http-client.ts";
import { categories, monitoringGroup } from "./monitoring-group.ts";
import { count, flag, open, type Read, text, textMap, texts } from "./open-object.ts";
import { type FieldTable, type FieldType, type Nested, receiverLists } from "./receiver-table.ts";
import { keySelector } from "./references.ts";
import { configurationStatus } from "./scrape-fields.ts";

export const receiverHttp = open({ ...receiverHttpFields, proxyURL: text });

const pairs = z.array(open({ key: z.string(), value: z.string() })).optional();

const schemas: Readonly<Record<FieldType, z.ZodType>> = {
  text,
  flag,
  on: flag,
  always: flag,
  number: count,
  duration: text,
  url: text,
  templateUrl: text,
  secret: keySelector.optional(),
  secretUrl: keySelector.optional(),
  http: receiverHttp.optional(),
  tls: safeTls.optional(),
  pairs,
  texts,
  map: textMap,
  sigv4: sigv4.optional(),
  threading: open({ threadByDate: z.enum(["Daily", "None"]) }).optional(),
};

function schemaOf(fields: FieldTable): z.ZodObject {
  return open(Object.fromEntries(Object.entries(fields).map(([name, [, type]]) => [name, fieldSchema(type)])));
}

function fieldSchema(type: FieldType | Nested): z.ZodType {
  if (typeof type === "string") return schemas[type];
  const inner = schemaOf(type.fields);
  return (type.isList ? z.array(inner) : inner).optional();
}

/** Fields that no version of the operator writes, but that manifests have. */
const receiver = open({
  name: z.string().min(1),
  ...Object.fromEntries(receiverLists.map(([name, , fields]) => [name, z.array(schemaOf(fields)).optional()])),
});

const matchType = z.enum(["!=", "=", "=~", "!~"]).optional();
const matcher = open({ name: z.string().min(1), value: text, matchType, regex: flag });
const newMatcher = open({ name: z.string().min(1), value: text, matchType });

const routeFields = {
  receiver: text,
  groupBy: texts,
  groupWait: text,
  groupInterval: text,
  repeatInterval: text,
  continue: flag,
  routes: z.array(preserved()).optional().describe("Routes below this one, of the same form."),
  muteTimeIntervals: texts,
  activeTimeIntervals: texts,
};

const period = open({
  times: z.array(open({ startTime: text, endTime: text })).optional(),
  weekdays: texts,
  daysOfMonth: z.array(open({ start: count, end: count })).optional(),
  months: texts,
  years: texts,
});
const interval = open({ name: z.string().min(1), timeIntervals: z.array(period).optional() });

const inhibitRule = open({
  targetMatch: z.array(matcher).optional(),
  sourceMatch: z.array(matcher).optional(),
  equal: texts,
});

export const routeSchema = open({ ...routeFields, matchers: z.array(matcher).optional() });

export const alertmanagerConfigSpec = open({
  route: routeSchema.optional().describe("Which alerts go to which receiver."),
  receivers: z.array(receiver).optional(),
  inhibitRules: z.array(inhibitRule).optional().describe("Which alerts silence which others."),
  muteTimeIntervals: z.array(interval).optional().describe("Times that routes name."),
});

const newRule = open({
  targetMatch: z.array(newMatcher).optional(),
  sourceMatch: z.array(newMatcher).optional(),
  equal: texts,
});

const newerSpec = open({
  route: open({ ...routeFields, matchers: z.array(newMatcher).optional() }).optional(),
  receivers: z.array(receiver).optional(),
  inhibitRules: z.array(newRule).optional(),
  timeIntervals: z.array(interval).optional().describe("Times that routes name."),
});

/** Both forms of a matcher say whether it is a regular expression. */
function newerMatchers(matchers: readonly Matcher[] | undefined): readonly Matcher[] {
  return (matchers ?? []).map(({ regex, matchType: type, ...rest }) => ({
    ...rest,
    matchType: type ?? (regex === true ? "=~" : "="),
  }));
}

/** The kind AlertmanagerConfig, `monitoring.coreos.com/v1alpha1`, and `v1beta1` beside it. */
export const AlertmanagerConfig = defineKind({
  group: monitoringGroup,
  version: "v1alpha1",
  kind: "AlertmanagerConfig",
  shortNames: ["amcfg"],
  categories,
  spec: alertmanagerConfigSpec,
  status: configurationStatus,
  versions: {
    v1beta1: {
      spec: newerSpec,
      up: ({ timeIntervals, ...rest }) => ({
        ...rest,
        ...(timeIntervals === undefined ? {} : { muteTimeIntervals: timeIntervals }),
      }),
      down: ({ muteTimeIntervals, route: root, inhibitRules, ...rest }) => ({
        ...rest,
        ...(root === undefined ? {} : { route: newerRoute(root) }),
        ...(inhibitRules === undefined ? {} : { inhibitRules: inhibitRules.map(newerRule) }),
        ...(muteTimeIntervals === undefined ? {} : { timeIntervals: muteTimeIntervals }),
      }),
    },
  },
});

function newerRoute(of: Route): Route {
  const { matchers, routes, ...rest } = of;
  return {
    ...rest,
    ...(matchers === undefined ? {} : { matchers: newerMatchers(matchers) }),
    // They are of the same form, which the schema cannot say.
    ...(routes === undefined ? {} : { routes: routes.map((child) => newerRoute(child as Route)) }),
  };
}

function newerRule({ targetMatch, sourceMatch, ...rest }: InhibitRule): InhibitRule {
  return {
    ...rest,
    ...(targetMatch === undefined ? {} : { targetMatch: newerMatchers(targetMatch) }),
    ...(sourceMatch === undefined ? {} : { sourceMatch: newerMatchers(sourceMatch) }),
  };
}

export type AlertmanagerConfig = ObjectOf<typeof AlertmanagerConfig>;
export type Matcher = Read<typeof matcher>;
export type Route = Read<typeof routeSchema>;
export type InhibitRule = Read<typeof inhibitRule>;
export type Interval = Read<typeof interval>;
export type Period = Read<typeof period>;
/** With its lists of integrations, which the table describes. */
export type Receiver = Read<typeof receiver> & Readonly<Record<string, unknown>>;
export type ReceiverHttp = Read<typeof receiverHttp>;
