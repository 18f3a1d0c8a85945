/**
 * The alarm CORRUPT: the data of a member differ from those of the others. etcd then refuses all writes, on
 * all members, and its health check fails on all of them, so no pod is ready. Nobody but a person can say
 * which data are right; pure.
 */
import { wait } from "setpoint";
import { type EtcdStep, recheckMs } from "./etcd-step.ts";
import type { Situation } from "./situation.ts";

/** What is wrong and what to do; undefined without the alarm. */
export function corruptionText({ members }: Situation): string | undefined {
  const errors = new Set(members.flatMap(({ status }) => status?.errors ?? []));
  const ids = [...errors].flatMap((error) => /memberID:(\d+) alarm:CORRUPT/.exec(error)?.[1] ?? []);
  if (ids.length === 0) return undefined;
  const names = ids.map((id) => nameOf(id, members)).sort();
  return `etcd reports corrupt data of ${names.join(" and ")} (alarm CORRUPT) and accepts no writes: compare the members, then replace that member or restore a backup`;
}

/** A wait for a quorum names the cause that a person has to remove. */
export function withCorruption(seen: Situation, step: EtcdStep): EtcdStep {
  const text = step.kind === "wait" ? corruptionText(seen) : undefined;
  return text === undefined ? step : wait(text, recheckMs);
}

/** The alarm has the ID in decimal. */
function nameOf(id: string, members: Situation["members"]): string {
  const hexadecimal = BigInt(id).toString(16);
  const found = members.find(({ listed, status }) => (listed?.id ?? status?.memberId) === hexadecimal);
  return found?.name ?? `member ${hexadecimal}`;
}
