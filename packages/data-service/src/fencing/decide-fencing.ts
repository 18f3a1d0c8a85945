/**
 * Decides which members a user keeps stopped; pure. Whatever heals, restarts or replaces members leaves these
 * alone. A member that was accepted once stays fenced until its user releases it, whatever happens to others.
 */
import type { ConditionInit } from "setpoint";
import { allMembers, type FencingSpec, type FencingStatus } from "./fencing-fields.ts";

/** Everything that decides about fencing. */
export interface SeenFencing {
  readonly wanted: FencingSpec | undefined;
  /** What the status recorded before. */
  readonly recorded: FencingStatus | undefined;
  readonly members: readonly {
    readonly name: string;
    /** Whether it counts for the quorum. */
    readonly votes: boolean;
    readonly healthy: boolean;
    /** Why clients need just this one, whatever the others do; then it takes consent, too. */
    readonly needed?: string | undefined;
  }[];
  /** How many voters must answer for clients to be served. */
  readonly quorum: number;
  /** Why no further member may be fenced now. */
  readonly blocked?: string | undefined;
}

/** The members that are kept stopped, and those that are not although a user asked for it. */
export interface FencingDecision {
  readonly fenced: readonly string[];
  readonly refused: readonly { readonly member: string; readonly reason: string }[];
}

/** The decision where nobody asked for anything. */
export const nothingFenced: FencingDecision = { fenced: [], refused: [] };

/** Members keep their order in the spec; those that are fenced already come first. */
export function decideFencing(seen: SeenFencing): FencingDecision {
  const { wanted, recorded, members } = seen;
  if (wanted === undefined || wanted.members.length === 0) return nothingFenced;
  const names = members.map(({ name }) => name);
  const asked = wanted.members.includes(allMembers) ? names : [...new Set(wanted.members)];
  const isRecorded = (name: string): boolean => recorded?.members.some((each) => each.name === name) ?? false;
  const fenced = asked.filter((name) => isRecorded(name) && names.includes(name));
  const refused: { member: string; reason: string }[] = [];
  for (const member of asked.filter((name) => !fenced.includes(name))) {
    const reason = refusal(seen, member, fenced);
    if (reason === undefined) fenced.push(member);
    else refused.push({ member, reason });
  }
  return { fenced, refused };
}

function refusal(seen: SeenFencing, member: string, fenced: readonly string[]): string | undefined {
  const { members, blocked, wanted } = seen;
  const known = members.find(({ name }) => name === member);
  if (known === undefined)
    return `it is not a member; members: ${members.map(({ name }) => name).join(", ") || "none"}`;
  if (blocked !== undefined) return blocked;
  if (wanted?.allowQuorumLoss === true) return undefined;
  if (known.needed !== undefined) return `${known.needed}; ${consent}`;
  return known.votes ? quorumRefusal(seen, known, fenced) : undefined;
}

const consent = "set spec.fencing.allowQuorumLoss to true to fence it anyway";

/** Members that do not answer now may come back, except for the fenced ones. */
function quorumRefusal(
  { members, quorum }: SeenFencing,
  { name, healthy }: SeenFencing["members"][number],
  fenced: readonly string[],
): string | undefined {
  const voters = members.filter(({ votes }) => votes);
  const others = voters.filter((each) => each.name !== name && !fenced.includes(each.name));
  if (others.length < quorum)
    return `${others.length} of ${voters.length} voting members would be left, and the quorum is ${quorum}; ${consent}`;
  const answering = others.filter((each) => each.healthy).length;
  const ends = healthy && answering === quorum - 1;
  return ends ? `only ${answering} other members answer, and the quorum is ${quorum}; ${consent}` : undefined;
}

/** "a and b are fenced", with what to do; undefined when no member is. */
export function fencedText({ fenced }: FencingDecision): string | undefined {
  if (fenced.length === 0) return undefined;
  const [what, whose] =
    fenced.length === 1 ? ["member", "it starts on its volume"] : ["members", "they start on their volumes"];
  const names = fenced.length === 1 ? `${fenced[0]} is` : `${fenced.slice(0, -1).join(", ")} and ${fenced.at(-1)} are`;
  return `${what} ${names} fenced; ${whose} when removed from spec.fencing.members`;
}

/** Why members are not fenced although a user asked for it; undefined when none was refused. */
export function fencingRefusalText({ refused }: FencingDecision): string | undefined {
  if (refused.length === 0) return undefined;
  return refused.map(({ member, reason }) => `cannot fence "${member}": ${reason}`).join("; ");
}

/** What the status records: enough for another process of the operator to keep the same members stopped. */
export function fencingRecord(
  { fenced, refused }: FencingDecision,
  before: FencingStatus | undefined,
  { now, isStopped }: { readonly now: string; readonly isStopped: (member: string) => boolean },
): FencingStatus | undefined {
  if (fenced.length === 0 && refused.length === 0) return undefined;
  const members = fenced.toSorted().map((name) => ({
    name,
    state: isStopped(name) ? ("Stopped" as const) : ("Stopping" as const),
    since: before?.members.find((each) => each.name === name)?.since ?? now,
  }));
  return { members, ...(refused.length === 0 ? {} : { refused: [...refused] }) };
}

/** The condition `Fenced`: which members are kept stopped, and what was refused. */
export function fencingCondition(decision: FencingDecision): ConditionInit {
  const [fenced, refused] = [fencedText(decision), fencingRefusalText(decision)];
  const message = [fenced, refused].filter((text) => text !== undefined).join("; ");
  if (fenced !== undefined) return { type: "Fenced", status: "True", reason: "MembersFenced", message };
  if (refused !== undefined) return { type: "Fenced", status: "False", reason: "FencingRefused", message };
  return { type: "Fenced", status: "False", reason: "NotFenced", message: "No member is fenced" };
}
