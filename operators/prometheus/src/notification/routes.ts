/** Routes and inhibitions of an AlertmanagerConfig, for alerts of its namespace alone if so asked; pure. */
import { field, filled, given, type Section } from "../generate/generation.ts";
import type { Version } from "../generate/version.ts";
import type { AlertmanagerConfig, InhibitRule, Route } from "../kind/alertmanager-config.ts";
import { filledSection, hasNewMatchers, matched, namespaceMatcher } from "./matchers.ts";

/** Whose routes they are. */
export interface Owner {
  readonly namespace: string;
  readonly name: string;
  /** Only alerts of this namespace; undefined means all. */
  readonly onlyFrom: string | undefined;
  readonly version: Version;
}

/** The name of a receiver or a time interval, so that two teams may both have a "pager". */
export function ownName({ namespace, name }: Pick<Owner, "namespace" | "name">, of: string): string {
  return `${namespace}/${name}/${of}`;
}

export function ownerOf({ metadata }: AlertmanagerConfig, onlyFrom: string | undefined, version: Version): Owner {
  return { namespace: metadata.namespace ?? "", name: metadata.name ?? "", onlyFrom, version };
}

/** The first route of an object: further objects see the alert too. */
export function topRoute(owner: Owner, route: Route): Section {
  return { ...routeSection(owner, route, owner.onlyFrom), continue: true };
}

export function routeSection(owner: Owner, route: Route, onlyFrom?: string): Section {
  const own = matched(owner.version, route.matchers);
  const isNew = hasNewMatchers(owner.version);
  const matchers = onlyFrom !== undefined && isNew ? [...own.matchers, namespaceMatcher(onlyFrom)] : own.matchers;
  const match = onlyFrom !== undefined && !isNew ? { ...own.match, namespace: onlyFrom } : own.match;
  const names = (list: readonly string[] | undefined): readonly string[] | undefined =>
    filled(list)?.map((each) => ownName(owner, each));
  const receiver = given(route.receiver);
  return {
    ...field("receiver", receiver === undefined ? undefined : ownName(owner, receiver)),
    ...field("group_by", filled(route.groupBy)),
    ...filledSection({ match, match_re: own.matchRegex, matchers }),
    ...(route.continue === true ? { continue: true } : {}),
    ...field(
      "routes",
      filled(childRoutes(route))?.map((child) => routeSection(owner, child)),
    ),
    ...field("group_wait", given(route.groupWait)),
    ...field("group_interval", given(route.groupInterval)),
    ...field("repeat_interval", given(route.repeatInterval)),
    ...field("mute_time_intervals", names(route.muteTimeIntervals)),
    ...field("active_time_intervals", names(route.activeTimeIntervals)),
  };
}

/** They are of the same form, which the schema cannot say. */
export function childRoutes({ routes }: Route): readonly Route[] {
  return (routes ?? []) as readonly Route[];
}

export function inhibitSection(owner: Owner, rule: InhibitRule): Section {
  const isNew = hasNewMatchers(owner.version);
  const side = (name: "source" | "target", list: InhibitRule["sourceMatch"]): Section => {
    const own = matched(owner.version, list);
    const { onlyFrom } = owner;
    if (onlyFrom === undefined) return sideSection(name, own.matchers, own.match, own.matchRegex);
    const { namespace: _, ...match } = own.match;
    const { namespace: __, ...matchRegex } = own.matchRegex;
    const matcher = namespaceMatcher(onlyFrom);
    const isThere = own.matchers.some((each) => each.replaceAll(" ", "") === matcher);
    const matchers = isNew && !isThere ? [...own.matchers, matcher] : own.matchers;
    return sideSection(name, matchers, isNew ? match : { ...match, namespace: onlyFrom }, matchRegex);
  };
  return {
    ...side("target", rule.targetMatch),
    ...side("source", rule.sourceMatch),
    ...field("equal", filled(rule.equal)),
  };
}

function sideSection(
  name: string,
  matchers: readonly string[],
  match: Readonly<Record<string, string>>,
  matchRegex: Readonly<Record<string, string>>,
): Section {
  return filledSection({ [`${name}_match`]: match, [`${name}_match_re`]: matchRegex, [`${name}_matchers`]: matchers });
}
