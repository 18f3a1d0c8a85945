/** Who is fenced, and what is left without them; pure. */
import type { SeenMember } from "../seen/seen.ts";
import { isVoting } from "./fencing-judgement.ts";
import type { Situation } from "./situation.ts";
import { isMember, quorumOf } from "./voters.ts";

export function isFenced({ fencing }: Situation, { name }: Pick<SeenMember, "name">): boolean {
  return fencing.fenced.includes(name);
}

/** Whether the fenced members alone leave no quorum; otherwise others have failed, too. */
export function endsQuorum(seen: Situation): boolean {
  const voters = seen.members.filter((member) => isMember(member) && isVoting(member));
  return voters.filter((member) => !isFenced(seen, member)).length < quorumOf(voters.length);
}

/** Whether a quorum has to be left when this member stops. */
export function needsQuorum({ cluster, quorum }: Situation, { listed }: SeenMember): boolean {
  return quorum && listed?.learner === false && cluster.spec.fencing?.allowQuorumLoss !== true;
}
