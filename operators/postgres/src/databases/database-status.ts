/** The status and the conditions of a database, as a snapshot and its step give them; pure. */
import type { ConditionInit } from "setpoint";
import { acceptance, sync, type Verdict } from "../inner/inner-conditions.ts";
import type { SeenDatabase } from "./database-seen.ts";
import { type DatabaseStep, differencesOf } from "./plan-database.ts";
import type { PostgresDatabase } from "./postgres-database.ts";

type Status = Omit<NonNullable<PostgresDatabase["status"]>, "conditions">;

export function databaseStatus(seen: SeenDatabase): Status {
  const { database, answer, wanted } = seen;
  const { generation } = database.metadata;
  const facts = answer?.database;
  const drift = answer === undefined ? (database.status?.drift ?? []) : differencesOf(seen);
  const owner = facts?.owner ?? database.status?.owner;
  const extensions = facts == null ? database.status?.extensions : versionsOf(facts);
  const isKnown = facts?.holder?.uid === database.metadata.uid || database.status?.database !== undefined;
  return {
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    ...(isKnown ? { database: wanted.name } : {}),
    ...(owner === undefined ? {} : { owner }),
    ...(extensions === undefined || Object.keys(extensions).length === 0 ? {} : { extensions }),
    ...(drift.length === 0 ? {} : { drift: [...drift] }),
  };
}

function versionsOf({
  extensions,
}: NonNullable<NonNullable<SeenDatabase["answer"]>["database"]>): Record<string, string> {
  const present = Object.entries(extensions).flatMap(([name, { version }]) =>
    version === null ? [] : [[name, version]],
  );
  return Object.fromEntries(present) as Record<string, string>;
}

export function databaseConditions(seen: SeenDatabase, step: DatabaseStep): readonly ConditionInit[] {
  return [
    { type: "Ready", ...readiness(seen, step) },
    { type: "Accepted", ...acceptance(seen.refusals) },
    { type: "InSync", ...sync(seen.answer === undefined ? undefined : differencesOf(seen), step) },
  ];
}

function readiness(seen: SeenDatabase, step: DatabaseStep): Verdict {
  if (step.kind === "act") return { status: "Unknown", reason: "Changing", message: step.reason };
  if (step.kind === "wait") return { status: "False", reason: waitReason(seen), message: step.reason };
  if (step.stalled !== undefined) return { status: "False", ...step.stalled };
  const drift = differencesOf(seen);
  if (drift.length > 0) return { status: "False", reason: "Drifted", message: drift.join("; ") };
  return { status: "True", reason: "DatabaseReady", message: `database "${seen.wanted.name}" is as the spec says` };
}

function waitReason({ cluster, answer, database }: SeenDatabase): string {
  if (cluster.kind !== "serving") return cluster.kind === "missing" ? "ClusterMissing" : "ClusterNotReady";
  if (answer === undefined) return "PrimarySilent";
  const isOurs = answer.database === null || answer.database.holder?.uid === database.metadata.uid;
  return isOurs || database.spec.adopt ? "CannotChange" : "DatabaseNotTakenOver";
}
