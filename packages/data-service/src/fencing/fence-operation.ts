/**
 * The Operations Fence and Unfence for any engine with `spec.fencing` and `status.fencing`. They write the
 * spec, which stays the only truth, and wait until the engine's controller has followed.
 */
import type { KubeObject } from "@setpoint/apimachinery";
import { type KindRef, type ReconcileContext, seconds, type Stored } from "setpoint";
import type { OperationReport } from "../operations/operation-step.ts";
import type { OperationRequest } from "../operations/operations.ts";
import { decideFencing, type SeenFencing } from "./decide-fencing.ts";
import { allMembers, type FencingSpec, type FencingStatus } from "./fencing-fields.ts";

/** An instance whose members can be fenced. */
export interface FenceableInstance extends KubeObject {
  readonly spec: { readonly fencing?: FencingSpec | undefined };
  readonly status?:
    | { readonly fencing?: FencingStatus | undefined; readonly observedGeneration?: number | undefined }
    | undefined;
}

const recheckMs = seconds(2);

/** The next step of a Fence or Unfence. `seen` is what the status of the instance says of its members. */
export function changeFencing<Instance extends FenceableInstance>(
  kind: KindRef<Instance>,
  instance: Stored<Instance>,
  seen: SeenFencing,
  request: OperationRequest,
  context: ReconcileContext,
): Promise<OperationReport> {
  const change = { kind, instance, seen, context, member: request.member ?? "" };
  return request.type === "Unfence" ? unfence(change) : fence(change, request.allowQuorumLoss ?? false);
}

interface Change<Instance extends FenceableInstance> {
  readonly kind: KindRef<Instance>;
  readonly instance: Stored<Instance>;
  readonly seen: SeenFencing;
  readonly context: ReconcileContext;
  readonly member: string;
}

async function fence<Instance extends FenceableInstance>(
  change: Change<Instance>,
  allowQuorumLoss: boolean,
): Promise<OperationReport> {
  const { instance, seen, member } = change;
  const before = instance.spec.fencing;
  const { members = [], allowQuorumLoss: wasAllowed = false } = before ?? {};
  const isAsked = members.includes(member);
  if (isAsked && (wasAllowed || !allowQuorumLoss)) return followed(change);
  if (member === "" || seen.members.length === 0) return rejected(missing(seen));
  const wanted = { members: isAsked ? members : [...members, member], allowQuorumLoss };
  // An earlier consent was for other members, which stay fenced whatever this one asks for.
  const { refused } = decideFencing({ ...seen, wanted });
  const [first] = refused.filter((each) => member === allMembers || each.member === member);
  if (first !== undefined) return rejected(`Cannot fence "${first.member}": ${first.reason}`, "FencingRefused");
  await write(change, { ...wanted, allowQuorumLoss: allowQuorumLoss || wasAllowed });
  return { state: "running", message: `${nameOf(member)} is going to stop`, recheckMs };
}

/** What the controller of the instance has made of the entry in the spec. */
async function followed<Instance extends FenceableInstance>(change: Change<Instance>): Promise<OperationReport> {
  const { instance, seen, member } = change;
  const { status, metadata } = instance;
  const names = member === allMembers ? seen.members.map(({ name }) => name) : [member];
  const message = `${nameOf(member)} is stopping`;
  if ((status?.observedGeneration ?? 0) < (metadata.generation ?? 0)) return { state: "running", message, recheckMs };
  const refused = status?.fencing?.refused?.find((each) => names.includes(each.member));
  if (refused !== undefined) {
    await write(change, without(instance.spec.fencing, [member], names));
    return {
      state: "failed",
      reason: "FencingRefused",
      message: `Cannot fence "${refused.member}": ${refused.reason}`,
    };
  }
  const stopped = new Set(status?.fencing?.members.filter(({ state }) => state === "Stopped").map(({ name }) => name));
  const done = names.filter((name) => stopped.has(name)).length;
  if (done < names.length) return { state: "running", message, progress: `${done}/${names.length}`, recheckMs };
  return {
    state: "done",
    message: `${nameOf(member)} has stopped and stays stopped until Unfence; its volume is kept`,
  };
}

async function unfence<Instance extends FenceableInstance>(change: Change<Instance>): Promise<OperationReport> {
  const { instance, seen, member } = change;
  const names = seen.members.map(({ name }) => name);
  const { members: asked = [] } = instance.spec.fencing ?? {};
  const isAll = member === allMembers;
  if (isAll ? asked.length > 0 : asked.includes(member) || (asked.includes(allMembers) && names.includes(member))) {
    await write(change, without(instance.spec.fencing, isAll ? asked : [member], names));
    return { state: "running", message: `${nameOf(member)} is going to start`, recheckMs };
  }
  if (member === "") return rejected(missing(seen));
  if (!isAll && !names.includes(member)) return { state: "done", message: `${member} is not fenced` };
  return started(change);
}

function rejected(message: string, reason = "MemberMissing"): OperationReport {
  return { state: "rejected", reason, message };
}

function missing({ members }: SeenFencing): string {
  return `spec.member must be "${allMembers}" or one of ${members.map(({ name }) => name).join(", ")}`;
}

/** While others are fenced, the instance may have no quorum, without which no member is healthy. */
function started<Instance extends FenceableInstance>({ instance, seen, member }: Change<Instance>): OperationReport {
  const running: OperationReport = { state: "running", message: `${nameOf(member)} is starting`, recheckMs };
  const { status, metadata } = instance;
  if ((status?.observedGeneration ?? 0) < (metadata.generation ?? 0)) return running;
  const fenced = status?.fencing?.members.map(({ name }) => name) ?? [];
  // A status that reports a failed reconcile has the new generation, and says what was true before.
  if (member === allMembers ? fenced.length > 0 : fenced.includes(member)) return running;
  if (fenced.length > 0)
    return { state: "done", message: `${nameOf(member)} is not fenced; ${fenced.join(", ")} stay fenced` };
  const isHealthy = seen.members.every(({ name, healthy }) => healthy || (member !== allMembers && name !== member));
  return isHealthy ? { state: "done", message: `${nameOf(member)} is not fenced, and healthy` } : running;
}

/** Removes names from the list; "*" becomes the names of all others. Undefined when nothing is left. */
function without(
  fencing: FencingSpec | undefined,
  removed: readonly string[],
  names: readonly string[],
): FencingSpec | undefined {
  const { members = [], allowQuorumLoss = false } = fencing ?? {};
  const isAll = members.includes(allMembers) && !removed.includes(allMembers);
  const left = (isAll ? names : members).filter((name) => !removed.includes(name));
  return left.length === 0 ? undefined : { members: left, allowQuorumLoss };
}

/** A list is written as a whole, so nothing may have changed since it was read. */
async function write<Instance extends FenceableInstance>(
  { kind, instance, context }: Change<Instance>,
  fencing: FencingSpec | undefined,
): Promise<void> {
  const { name, namespace = "", resourceVersion } = instance.metadata;
  const change = { metadata: { resourceVersion }, spec: { fencing: fencing ?? null } };
  await context.client.patch(kind, { name, namespace }, change, { signal: context.signal });
}

function nameOf(member: string): string {
  return member === allMembers ? "Every member" : member;
}
