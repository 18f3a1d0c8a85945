/** What the status records of a lost quorum: enough for another process to go on with a recovery; pure. */
import type { ConditionInit, StepFacts } from "setpoint";
import type { EtcdCluster } from "../kind/etcd-cluster.ts";
import type { EtcdStep } from "../plan/etcd-step.ts";
import { currentCopy, recordedCopy } from "./copy-record.ts";
import { approvalOf, chosenSurvivor, type QuorumLoss, quorumLoss } from "../plan/quorum-loss.ts";
import { consentText, lossText, possibleLoss } from "../plan/quorum-text.ts";
import { isFounded } from "../seen/seen.ts";
import type { Situation } from "../plan/situation.ts";

type Status = NonNullable<EtcdCluster["status"]>;
export type QuorumRecord = NonNullable<Status["quorumRecovery"]>;

const type = "QuorumLost";

export function quorumRecord(seen: Situation, step: EtcdStep, now: string): QuorumRecord | undefined {
  const before = seen.cluster.status?.quorumRecovery;
  if (!isFounded(seen)) return before;
  if (seen.quorum) return withQuorum(seen, before, now);
  if (before?.state === "Recovering") return before;
  const loss = quorumLoss(seen);
  // A new process counts the silence from its own start; what was found before it still stands.
  if (loss === undefined) return before;
  const record = waitingRecord(seen, loss, before, now);
  // The choice is recorded with the first step, before that is done.
  return step.kind === "act" && chosenSurvivor(seen, loss) !== undefined ? recovering(seen, record) : record;
}

function waitingRecord(seen: Situation, loss: QuorumLoss, before: QuorumRecord | undefined, now: string): QuorumRecord {
  const since = before?.state === "Waiting" ? before.since : now;
  const [survivor] = loss.survivors;
  return {
    state: "Waiting",
    since,
    lost: loss.lost.map(({ name }) => name),
    survivors: loss.survivors.map(({ name, position: { revision = 0, raftIndex = 0 } = {} }) => ({
      name,
      revision,
      raftIndex,
    })),
    possibleLoss: possibleLoss(seen, survivor),
    ...(survivor === undefined
      ? {}
      : {
          survivor: survivor.name,
          revision: survivor.position?.revision ?? 0,
          approval: approvalOf(seen, survivor, since),
        }),
  };
}

function recovering(seen: Situation, record: QuorumRecord): QuorumRecord {
  const givenUp = seen.members.map(({ name }) => name).filter((name) => name !== record.survivor);
  return { ...record, state: "Recovering", fenced: givenUp };
}

function withQuorum(seen: Situation, before: QuorumRecord | undefined, now: string): QuorumRecord | undefined {
  const voters = seen.members.filter(({ listed }) => listed?.learner === false);
  if (before?.state === "Growing" && voters.length >= seen.cluster.spec.size)
    return { ...before, state: "Recovered", finished: now };
  if (before?.state === "Growing" || before?.state === "Recovered")
    return { ...before, copy: currentCopy(seen, before, now) };
  if (before?.state === "Recovering") {
    const isAlone = voters.length === 1 && voters[0]?.name === before.survivor;
    return isAlone ? { ...before, state: "Growing", copy: recordedCopy(seen, before.survivor ?? "", now) } : undefined;
  }
  // The lost ones have come back.
  return undefined;
}

/** Whether a majority is lost for good, and what has to happen. */
export function quorumCondition(seen: Situation, facts: StepFacts): ConditionInit {
  if (facts.outdated !== undefined) return { type, status: "Unknown", reason: "NotObserved", message: facts.outdated };
  if (seen.quorum) return { type, status: "False", reason: "QuorumAnswers", message: answered(seen) };
  const record = seen.cluster.status?.quorumRecovery;
  if (record?.state === "Recovering") {
    const message = `The cluster goes on from ${record.survivor}. Possible loss: ${record.possibleLoss}`;
    return { type, status: "True", reason: "Recovering", message };
  }
  const loss = quorumLoss(seen);
  if (loss === undefined && record?.state !== "Waiting")
    return { type, status: "False", reason: "MayReturn", message: "No majority is known to be lost for good" };
  if (loss === undefined)
    return {
      type,
      status: "True",
      reason: "LossConfirmed",
      message: `Lost: ${record?.lost.join(", ")}; it is being checked again`,
    };
  const [survivor] = loss.survivors;
  const reason = survivor === undefined ? "NoneSurvives" : "MajorityLost";
  const parts = [lossText(seen, loss), `Possible loss: ${possibleLoss(seen, survivor)}`, consentText(seen, loss)];
  return { type, status: "True", reason, message: parts.join(". ") };
}

function answered({ cluster }: Situation): string {
  const record = cluster.status?.quorumRecovery;
  if (record === undefined || record.state === "Waiting") return "A quorum answers";
  const said = `The cluster went on from ${record.survivor} at revision ${record.revision}. Possible loss: ${record.possibleLoss}`;
  const { copy } = record;
  if (copy === undefined || copy.removedAt !== undefined) return said;
  return `${said}. The data from before are in ${copy.folder} of its volume until ${copy.keptUntil}`;
}
