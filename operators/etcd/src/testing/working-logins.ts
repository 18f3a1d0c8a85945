/** The law of bindings: while a binding exists, the login in its Secret works. Only tests import this. */
import { ServiceBinding } from "@setpoint/data-service";
import { Secret } from "setpoint/kinds";
import type { Stored } from "setpoint";
import { type EtcdModel, type Oracle, type WorldView } from "setpoint/testing";

const published = "servicebinding.io/etcd";

/**
 * Judged by the data of etcd after each write of any client. A Secret is written when its login works; what
 * another client writes into the Secret is not judged before the operator has answered it.
 */
export function publishedLoginsWork(etcd: EtcdModel, cluster: string): Oracle {
  return {
    name: "the login in the Secret of a binding works",
    judge(view) {
      const worked = new Set<string>();
      return { passed: () => judged(etcd, cluster, view, worked) };
    },
  };
}

function judged(etcd: EtcdModel, cluster: string, view: WorldView, worked: Set<string>): string | undefined {
  const accepted = acceptedPasswords(etcd, cluster);
  if (accepted === undefined) return undefined;
  for (const secret of view.list(Secret).filter((each) => isWanted(view, each))) {
    const { user, password } = loginOf(secret);
    const key = `${user}/${password}`;
    if (accepted.get(user) === password) worked.add(key);
    else if (worked.has(key)) return `user ${user} of Secret "${secret.metadata.name}" cannot log in any more`;
  }
  return undefined;
}

/** By the member that has the most; undefined while none runs, or while etcd asks for no login. */
function acceptedPasswords(etcd: EtcdModel, cluster: string): ReadonlyMap<string, string> | undefined {
  const [first, ...others] = etcd.members(cluster);
  if (first === undefined) return undefined;
  const { data } = others.reduce((best, each) => (each.data.index > best.data.index ? each : best), first);
  if (!data.auth.enabled) return undefined;
  return new Map(Object.entries(data.auth.users).map(([name, { password }]) => [name, password]));
}

/** The Secret of a binding that is not being deleted. */
function isWanted(view: WorldView, { type, metadata }: Stored<Secret>): boolean {
  if (type !== published) return false;
  const owners = new Set(metadata.ownerReferences?.map(({ uid }) => uid));
  return view
    .list(ServiceBinding)
    .some(({ metadata: { uid, deletionTimestamp } }) => owners.has(uid) && deletionTimestamp === undefined);
}

function loginOf({ data = {} }: Secret): { readonly user: string; readonly password: string } {
  const text = (key: string): string => Buffer.from(data[key] ?? "", "base64").toString("utf8");
  return { user: text("username"), password: text("password") };
}
