/** Who is a member, and how many make a quorum; pure. */
import type { SeenMember } from "../seen/seen.ts";

export function quorumOf(voters: number): number {
  return Math.floor(voters / 2) + 1;
}

/** Whether it is a member by etcd's list, or by our own record while there is no quorum. */
export function isMember(member: SeenMember): boolean {
  return member.listed !== undefined || member.recorded !== undefined;
}
