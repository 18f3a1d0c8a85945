/** Members of the snapshot by their name. */
import { memberEndpoint } from "../resources/member-pod.ts";
import type { Situation } from "../plan/situation.ts";
import type { SeenMember } from "../seen/seen.ts";

export function find(seen: Situation, name: string): SeenMember {
  return [...seen.members, ...seen.givenUp].find((each) => each.name === name) ?? { name };
}

export function endpointOf({ pod }: Pick<SeenMember, "pod">): string | undefined {
  return pod === undefined ? undefined : memberEndpoint(pod);
}
