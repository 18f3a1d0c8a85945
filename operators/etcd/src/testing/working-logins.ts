/** The laws of bindings: which logins work, from their publication to their end. Only tests import this. */
import { ServiceBinding } from "@setpoint/data-service";
import { Secret } from "setpoint/kinds";
import { minutes, parseDuration, type Stored } from "setpoint";
import { type EtcdModel, type Fault, type Oracle, type WorldView } from "setpoint/testing";

const published = "servicebinding.io/etcd";

/** Since when an application may have a login, and how long it must work. */
interface PublishedLogin {
  readonly binding: string;
  untilMs: number;
}

/**
 * Judged by the data of etcd after each write of any client. A Secret is written when its login works; what
 * another client writes into the Secret is not judged before the operator has answered it. A login that was
 * replaced works until its overlap has passed.
 */
export function publishedLoginsWork(etcd: EtcdModel, cluster: string): Oracle {
  return {
    name: "a published login works until its overlap has passed",
    judge(view) {
      const logins = new Map<string, PublishedLogin>();
      return { passed: () => judged(etcd, cluster, view, logins) };
    },
  };
}

function judged(
  etcd: EtcdModel,
  cluster: string,
  view: WorldView,
  logins: Map<string, PublishedLogin>,
): string | undefined {
  const accepted = acceptedPasswords(etcd, cluster);
  if (accepted === undefined) return undefined;
  const bindings = view.list(ServiceBinding).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  for (const binding of bindings) noteLogins(binding, view, accepted, logins);
  for (const [login, { binding, untilMs }] of logins) {
    const [user = "", password] = login.split("/");
    const isOwed = view.nowMs < untilMs && bindings.some(({ metadata }) => metadata.uid === binding);
    if (isOwed && accepted.get(user) !== password)
      return `user ${user} cannot log in any more, ${untilMs - view.nowMs} ms before its overlap ends`;
  }
  return undefined;
}

function noteLogins(
  { metadata: { uid }, spec }: Stored<ServiceBinding>,
  view: WorldView,
  accepted: ReadonlyMap<string, string>,
  logins: Map<string, PublishedLogin>,
): void {
  const untilMs = view.nowMs + parseDuration(spec.rotation.overlap);
  for (const secret of view.list(Secret)) {
    if (secret.type !== published || !secret.metadata.ownerReferences?.some((owner) => owner.uid === uid)) continue;
    const { user, password } = loginOf(secret);
    const key = `${user}/${password}`;
    if (logins.has(key) || accepted.get(user) === password) logins.set(key, { binding: uid, untilMs });
  }
}

/** What an operator may take to drop a login whose overlap has passed. */
const dropMs = minutes(3);

/** In the end etcd has no users but root and those of bindings, and none whose overlap has long passed. */
export function oldLoginsAreDropped(etcd: EtcdModel, cluster: string): Oracle {
  return {
    name: "no login outlives its overlap or its binding",
    judge: (view) => ({
      ended({ unsettled, faults }) {
        const accepted = acceptedPasswords(etcd, cluster);
        if (unsettled !== undefined || accepted === undefined || faults.some(losesRoot)) return undefined;
        const kept = new Set(view.list(ServiceBinding).flatMap((binding) => keptUsers(binding, view.nowMs)));
        const left = [...accepted.keys()].find((user) => user !== "root" && !kept.has(user));
        return left === undefined ? undefined : `user ${left} can still log in`;
      },
    }),
  };
}

/** Without its password nobody can drop a user. */
function losesRoot(fault: Fault): boolean {
  return fault.kind === "E1" && fault.child.resource === "secrets";
}

function keptUsers({ spec, status }: ServiceBinding, nowMs: number): readonly string[] {
  const overlapMs = parseDuration(spec.rotation.overlap);
  const isKept = ({ state, since }: { readonly state: string; readonly since: string }): boolean =>
    state !== "Retiring" || Date.parse(since) + overlapMs + dropMs > nowMs;
  return (status?.logins ?? []).filter(isKept).map(({ user }) => user);
}

/** By the member that has the most; undefined while none runs, or while etcd asks for no login. */
function acceptedPasswords(etcd: EtcdModel, cluster: string): ReadonlyMap<string, string> | undefined {
  const [first, ...others] = etcd.members(cluster);
  if (first === undefined) return undefined;
  const { data } = others.reduce((best, each) => (each.data.index > best.data.index ? each : best), first);
  if (!data.auth.enabled) return undefined;
  return new Map(Object.entries(data.auth.users).map(([name, { password }]) => [name, password]));
}

function loginOf({ data = {} }: Secret): { readonly user: string; readonly password: string } {
  const text = (key: string): string => Buffer.from(data[key] ?? "", "base64").toString("utf8");
  return { user: text("username"), password: text("password") };
}
