/**
 * Options of etcd that an EtcdCluster may set: those that tune a member. The operator keeps all others,
 * because they name files, addresses or other clusters, or decide about identity and repair. An allow list
 * also covers the options of later versions.
 */
import { compareVersions } from "@setpoint/data-service";
import { numbersOf } from "./etcd-version.ts";

/** Which versions have an option, by the sources and the programs of etcd. */
interface OptionVersions {
  /** The first version that has it, of each minor up to one from whose first version on all have it. */
  readonly since?: readonly string[];
  /** The first version that has it no more. */
  readonly until?: string;
  /** The same option under its other name. */
  readonly otherName?: string;
}

/** A member ends at once when it does not know an option. */
const versionsOf: Readonly<Record<string, OptionVersions>> = {
  "auto-compaction-mode": {},
  "auto-compaction-retention": {},
  "backend-batch-interval": {},
  "backend-batch-limit": {},
  "backend-bbolt-freelist-type": { since: ["3.5.0"] },
  "bootstrap-defrag-threshold-megabytes": renamed("bootstrap-defrag-threshold-megabytes"),
  "compact-hash-check-time": renamed("compact-hash-check-time"),
  "compaction-batch-limit": renamed("compaction-batch-limit"),
  "compaction-sleep-interval": renamed("compaction-sleep-interval"),
  "corrupt-check-time": renamed("corrupt-check-time"),
  "election-timeout": {},
  "experimental-bootstrap-defrag-threshold-megabytes": experimental("bootstrap-defrag-threshold-megabytes", "3.5.0"),
  "experimental-compact-hash-check-enabled": { since: ["3.5.5"], until: "3.7.0" },
  "experimental-compact-hash-check-time": experimental("compact-hash-check-time", "3.5.5"),
  "experimental-compaction-batch-limit": experimental("compaction-batch-limit"),
  "experimental-compaction-sleep-interval": experimental("compaction-sleep-interval", "3.5.16"),
  "experimental-corrupt-check-time": experimental("corrupt-check-time"),
  "experimental-enable-lease-checkpoint": { until: "3.7.0" },
  "experimental-enable-lease-checkpoint-persist": { since: ["3.4.20", "3.5.2"], until: "3.7.0" },
  "experimental-initial-corrupt-check": { until: "3.7.0" },
  "experimental-txn-mode-write-with-shared-buffer": { since: ["3.5.0"], until: "3.7.0" },
  "experimental-warning-apply-duration": experimental("warning-apply-duration", "3.4.16", "3.5.0"),
  "experimental-warning-unary-request-duration": experimental("warning-unary-request-duration", "3.6.0"),
  "experimental-watch-progress-notify-interval": experimental("watch-progress-notify-interval", "3.4.11", "3.5.0"),
  "grpc-keepalive-interval": {},
  "grpc-keepalive-min-time": {},
  "grpc-keepalive-timeout": {},
  "heartbeat-interval": {},
  "initial-election-tick-advance": {},
  "log-level": {},
  "max-concurrent-streams": { since: ["3.4.20", "3.5.5"] },
  "max-request-bytes": {},
  "max-snapshots": {},
  "max-txn-ops": {},
  "max-wals": {},
  metrics: {},
  "pre-vote": {},
  "quota-backend-bytes": {},
  "snapshot-count": {},
  "warning-apply-duration": renamed("warning-apply-duration"),
  "warning-unary-request-duration": renamed("warning-unary-request-duration"),
  "watch-progress-notify-interval": renamed("watch-progress-notify-interval"),
};

export const allowedOptions: readonly string[] = Object.keys(versionsOf);

/** 3.6 gave options names without `experimental`, with the same values; it knows both names. */
function renamed(name: string): OptionVersions {
  return { since: ["3.6.0"], otherName: `experimental-${name}` };
}

function experimental(otherName: string, ...since: readonly string[]): OptionVersions {
  return { ...(since.length === 0 ? {} : { since }), until: "3.7.0", otherName };
}

/** What a version calls the option that a spec names; undefined when it has no such option. */
export function optionNameIn(version: string, name: string): string | undefined {
  const { otherName } = versionsOf[name] ?? {};
  if (hasOption(version, name)) return name;
  return otherName !== undefined && hasOption(version, otherName) ? otherName : undefined;
}

/** Options by the names of a version, without those that it does not have. */
export function optionsIn(
  version: string,
  options: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const entries = Object.entries(options).map(([name, value]) => [optionNameIn(version, name), value] as const);
  return Object.fromEntries(entries.filter(([name]) => name !== undefined));
}

/** The same for both names of an option. */
export function optionIdentity(name: string): string {
  const { otherName } = versionsOf[name] ?? {};
  return otherName === undefined || name < otherName ? name : otherName;
}

/** Options of which the second ones win, under whichever name each of them is. */
export function mergedOptions(
  given: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const named = new Set(Object.keys(own).map(optionIdentity));
  const others = Object.entries(given).filter(([name]) => !named.has(optionIdentity(name)));
  return { ...Object.fromEntries(others), ...own };
}

/** Why a member of this version cannot have the option; undefined when it can. */
export function optionRefusal(
  version: string,
  name: string,
  options: Readonly<Record<string, string>>,
): string | undefined {
  const life = versionsOf[name];
  if (life === undefined) return "the option does not only tune a member";
  const { otherName, until } = life;
  // The older name stays: with both, it is the one that etcd 3.6 goes by.
  if (otherName !== undefined && options[otherName] !== undefined && until === undefined)
    return `"${otherName}" is the same option, and is set too: remove one of them`;
  if (optionNameIn(version, name) !== undefined) return undefined;
  return `etcd ${version} has no such option${lifeText(version, life)}`;
}

/** What a user should know of the name of an option that is accepted; undefined when nothing. */
export function optionNotice(version: string, name: string): string | undefined {
  const present = optionNameIn(version, name);
  if (present === undefined) return undefined;
  if (present !== name) return `etcd ${version} calls it "${present}", and members get it under that name`;
  const { until, otherName } = versionsOf[name] ?? {};
  const isKnownLonger = otherName !== undefined && hasOption(version, otherName);
  if (until === undefined || minorOf(version) + 1 < minorOf(until)) return undefined;
  const rename = isKnownLonger ? `rename it to "${otherName}", which ${version} knows too` : "it has to be removed";
  return `etcd ${until.replace(/\.0$/, "")} has no such option; before that upgrade ${rename}`;
}

/** From which versions on an option exists, under its other name too where that is older. */
function lifeText(version: string, { since = [], until, otherName }: OptionVersions): string {
  if (until !== undefined && compareVersions(version, until) >= 0) return `; only versions before ${until} have it`;
  const older = otherName === undefined || until !== undefined ? [] : (versionsOf[otherName]?.since ?? []);
  const earlier = older.filter((each) => !since.includes(each));
  const asOther = earlier.length === 0 ? "" : `, and as "${otherName}" from ${earlier.join(" and ")} on`;
  return since.length === 0 ? "" : `; it exists from ${since.join(" and ")} on${asOther}`;
}

function hasOption(version: string, name: string): boolean {
  const { since = [], until } = versionsOf[name] ?? {};
  if (until !== undefined && compareVersions(version, until) >= 0) return false;
  if (since.length === 0) return true;
  const first = since.findLast((each) => minorOf(each) <= minorOf(version));
  return first !== undefined && (minorOf(first) < minorOf(version) || compareVersions(version, first) >= 0);
}

/** Of etcd 3. */
function minorOf(version: string): number {
  return numbersOf(version)[1];
}

/**
 * Variables that an EtcdCluster may set: those of Go's runtime. `ETCD_…` would set options, `LD_…` would load
 * other code.
 */
export const allowedVariables = ["GODEBUG", "GOGC", "GOMAXPROCS", "GOMEMLIMIT", "GOTRACEBACK", "TZ"] as const;
