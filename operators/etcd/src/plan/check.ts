/** Checks just before a harm, as data: the plan names them, and `act` makes them with fresh answers; pure. */
import type { SeenMember } from "../seen/seen.ts";
import type { Answering } from "./etcd-step.ts";
import { isFenced, needsQuorum } from "./fenced-members.ts";
import type { Situation } from "./situation.ts";
import { quorumOf } from "./voters.ts";

/**
 * For a step after which a member does not answer for a while. Two members at once are never without risk, so
 * all others must be there.
 */
export function othersAnswer({ members }: Situation, member: string): Answering {
  const others = members.filter(({ name, listed }) => name !== member && listed !== undefined);
  return { members: others.map(({ name }) => name), atLeast: others.length };
}

/** The same for a member that a user stops: a quorum is enough, and less when the user allows it. */
export function quorumAnswers(seen: Situation, member: SeenMember): Answering {
  if (!needsQuorum(seen, member)) return { members: [], atLeast: 0 };
  const voters = seen.members.filter(({ listed }) => listed?.learner === false);
  const others = voters.filter((each) => each.name !== member.name && !isFenced(seen, each));
  return { members: others.map(({ name }) => name), atLeast: quorumOf(voters.length) };
}
