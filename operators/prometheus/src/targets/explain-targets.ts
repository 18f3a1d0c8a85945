/** Why an object that states scrapes has no targets, or that they are up; pure. The order is the policy. */
import { explainDiscovery } from "./explain-discovery.ts";
import { counted, type Explanation } from "./explanation.ts";
import type { StatedJob, TargetFacts, UserFacts } from "./target-facts.ts";

const usersMax = 3;

/** One answer for all Prometheuses and jobs: the first that fails, then the first that is not known. */
export function explainTargets(facts: TargetFacts): Explanation {
  const selecting = facts.users.filter(({ mismatch }) => mismatch === undefined);
  if (selecting.length === 0) return notSelected(facts);
  const all = selecting.flatMap((user) => explainUser(facts, user, selecting.length > 1));
  const failing = all.filter(({ status }) => status === "False");
  if (failing.length > 0) return joined("False", failing);
  const unknown = all.filter(({ status }) => status === "Unknown");
  return unknown.length > 0 ? joined("Unknown", unknown) : joined("True", all);
}

function joined(status: Explanation["status"], all: readonly Explanation[]): Explanation {
  const messages = [...new Set(all.map(({ message }) => message))];
  return { status, reason: all[0]?.reason ?? "NothingStated", message: messages.slice(0, usersMax).join("; ") };
}

function notSelected({ kind, users }: TargetFacts): Explanation {
  const told = users.slice(0, usersMax).map(({ name, mismatch = "" }) => `"${name}": ${mismatch}`);
  const more = users.length > told.length ? [`and ${users.length - told.length} more`] : [];
  const message =
    users.length === 0
      ? `There is no Prometheus that could select the ${kind}; create one with a selector for it`
      : `No Prometheus selects the ${kind}: ${[...told, ...more].join("; ")}`;
  return { status: "False", reason: "NotSelected", message };
}

function explainUser(facts: TargetFacts, user: UserFacts, isNamed: boolean): readonly Explanation[] {
  const named = (explanation: Explanation): Explanation =>
    isNamed ? { ...explanation, message: `Prometheus "${user.name}": ${explanation.message}` } : explanation;
  if (user.refusal !== undefined)
    return [named({ status: "False", reason: "LeftOut", message: `Left out of the configuration: ${user.refusal}` })];
  if (facts.jobs.length === 0)
    return [named({ status: "False", reason: "NothingStated", message: `The ${facts.kind} states no endpoint` })];
  return facts.jobs.map((job) => named(explainJob(facts, user, job)));
}

function explainJob(facts: TargetFacts, user: UserFacts, job: StatedJob): Explanation {
  const prefixed = (explanation: Explanation): Explanation =>
    facts.jobs.length > 1 ? { ...explanation, message: `${job.field}: ${explanation.message}` } : explanation;
  const pool = user.pools.get(job.pool);
  if (pool !== undefined && pool.active > 0) return prefixed(explainPool(pool));
  return prefixed(explainRights(user) ?? explainDiscovery(facts, user, job));
}

function explainPool({
  active,
  up,
  unknown,
  failures,
}: NonNullable<ReturnType<UserFacts["pools"]["get"]>>): Explanation {
  const down = active - up - unknown;
  if (down > 0) {
    const why = failures.map(({ target, message }) => `${target}: ${message}`).join("; ");
    return {
      status: "False",
      reason: "ScrapeFailed",
      message: `${down} of ${counted(active, "target")} ${isOrAre(down)} down: ${why}`,
    };
  }
  if (up === 0) {
    const message = `${counted(active, "target")} found, waiting for the first scrape`;
    return { status: "Unknown", reason: "NotScrapedYet", message };
  }
  return { status: "True", reason: "TargetsUp", message: `${up} of ${counted(active, "target")} ${isOrAre(up)} up` };
}

function explainRights({ account = "", missingRights = [] }: UserFacts): Explanation | undefined {
  if (missingRights.length === 0) return undefined;
  const what = `ServiceAccount "${account}" of Prometheus may not ${missingRights.join(", ")}`;
  return { status: "False", reason: "AccessDenied", message: `${what}; grant it with a Role or ClusterRole` };
}

function isOrAre(count: number): string {
  return count === 1 ? "is" : "are";
}
