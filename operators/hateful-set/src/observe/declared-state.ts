/** What the status of any kind says of its members, its size and its conditions. */
import type { Condition, KubeObject } from "setpoint";
import type { SeenMember, SeenTarget } from "../seen/seen.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Under these names kinds ask for a number of pods. */
const sizeFields = ["size", "instances", "replicas", "members"] as const;
/** Roles of which there is one. */
const leading: ReadonlySet<string> = new Set(["leader", "primary"]);
const shownConditions: ReadonlySet<string> = new Set(["Available", "Ready", "Degraded"]);

export function declaredState(
  object: KubeObject | undefined,
): Pick<SeenTarget, "size" | "members" | "conditions" | "said"> {
  const { spec, status } = { spec: fieldsOf(object, "spec"), status: fieldsOf(object, "status") };
  const members = membersOf(status);
  const conditions = listOf(status["conditions"]).filter(isCondition);
  const wanted = sizeFields.map((name) => spec[name]).find((value) => typeof value === "number");
  const scheduled = status["desiredNumberScheduled"];
  const size = typeof wanted === "number" ? wanted : typeof scheduled === "number" ? scheduled : undefined;
  return { size, members, conditions, said: saidOf(status, members, conditions) };
}

function fieldsOf(object: unknown, name: string): Fields {
  const value = isFields(object) ? object[name] : undefined;
  return isFields(value) ? value : {};
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isCondition(value: unknown): value is Condition {
  return isFields(value) && typeof value["type"] === "string" && typeof value["status"] === "string";
}

/** `status.members` with a name and a role each, as EtcdCluster and PostgresCluster report them. */
function membersOf(status: Fields): readonly SeenMember[] {
  return listOf(status["members"]).flatMap((member) => {
    if (!isFields(member)) return [];
    const { name, role } = member;
    if (typeof name !== "string" || typeof role !== "string") return [];
    const healthy = member["healthy"] ?? member["ready"];
    return [{ name, role, healthy: typeof healthy === "boolean" ? healthy : undefined }];
  });
}

function saidOf(status: Fields, members: readonly SeenMember[], conditions: readonly Condition[]): string {
  const { phase, readyReplicas } = status;
  const healthy = members.filter((member) => member.healthy !== false).length;
  const parts = [
    typeof phase === "string" ? `phase ${phase}` : undefined,
    typeof readyReplicas === "number" ? `${readyReplicas} replicas ready` : undefined,
    members.length === 0 ? undefined : `${healthy} of ${members.length} members healthy`,
    ...members.filter(({ role }) => leading.has(role.toLowerCase())).map(({ name, role }) => `${role} ${name}`),
    ...conditions
      .filter(({ type }) => shownConditions.has(type))
      .map(({ type, status: value, reason }) => `${type}=${value} (${reason})`),
  ];
  return parts.filter((part) => part !== undefined).join(", ") || "nothing";
}
