/** The ability "roles": an engine with one primary that accepts writes, and replicas that follow it. */
import type { KubeObject } from "@setpoint/apimachinery";
import type { Stored } from "setpoint";
import type { InstanceAccess } from "./instance-access.ts";

/** What a member is, as it reports itself. */
export interface MemberRole {
  readonly name: string;
  readonly role: "primary" | "replica" | "unknown";
  readonly timeline: number;
  /** How far its log reaches; undefined when it does not say. */
  readonly received?: string | undefined;
  /** How far its data are. */
  readonly replayed?: string | undefined;
}

/** Changes of roles. All are idempotent. */
export interface EngineRoles<Instance extends KubeObject> {
  /** Who is what; a member that does not answer is left out. */
  members(instance: Stored<Instance>, access: InstanceAccess): Promise<readonly MemberRole[]>;
  /** Makes a replica the primary. It begins a new timeline. */
  promote(instance: Stored<Instance>, member: string, access: InstanceAccess): Promise<void>;
  /** Ends writes on a primary; it follows the other one when it comes back. */
  demote(instance: Stored<Instance>, member: string, access: InstanceAccess): Promise<void>;
}

/** How a member is chosen: by the order of positions of one timeline, and how many must be heard. */
export interface Election {
  readonly compare: (a: string, b: string) => number;
  /** How many members there are. */
  readonly members: number;
  /** How many copies each acknowledged write has; 1 without synchronous replication. */
  readonly copies: number;
}

/**
 * The replica to promote: of the newest timeline, with the longest log, then with the most applied data. With
 * synchronous copies it waits until enough members are heard, so that one of them must have each
 * acknowledged write. Returns why nobody can be promoted when nobody can.
 */
export function electPrimary(
  heard: readonly MemberRole[],
  { compare, members, copies }: Election,
): { readonly member: string } | { readonly refusal: string } {
  const able = heard.filter(({ role, received }) => role !== "unknown" && received !== undefined);
  const needed = members - copies + 1;
  if (copies > 1 && able.length < needed)
    return {
      refusal: `${able.length} of ${members} members say how far their log is; ${needed} are needed to know the last acknowledged write`,
    };
  const newest = Math.max(...able.map(({ timeline }) => timeline));
  const order = (a: string | undefined, b: string | undefined): number => compare(b ?? "", a ?? "");
  const [first] = able
    .filter(({ role, timeline }) => role === "replica" && timeline === newest)
    .toSorted(
      (a, b) =>
        order(a.received, b.received) ||
        order(a.replayed ?? a.received, b.replayed ?? b.received) ||
        (a.name < b.name ? -1 : 1),
    );
  return first === undefined ? { refusal: "no replica of the newest timeline answers" } : { member: first.name };
}
