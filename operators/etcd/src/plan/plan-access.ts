/** What clients and the operator itself need to be let in: certificates, and the login of root; pure. */
import { wait } from "setpoint";
import { lostLoginText, refusedLoginText, rootSecretName } from "../resources/root-login.ts";
import { act, type EtcdStep, recheckMs } from "./etcd-step.ts";
import type { Situation } from "./situation.ts";

/** Before everything that a cluster with authentication refuses to a client without a login. */
export function planAuthentication({
  authentication,
  cluster,
  isRootMissing = false,
}: Situation): EtcdStep | undefined {
  const { name = "" } = cluster.metadata;
  if (authentication === "On" && isRootMissing)
    return act("restoreRootSecret", {}, `Secret "${rootSecretName(name)}" is gone, and etcd accepts the login it had`);
  if (authentication === "Off" && cluster.spec.dryRun) return undefined;
  if (authentication === "Off")
    return act("enableAuthentication", {}, "clients need no login yet, and spec.auth.enabled is true");
  if (authentication !== "Refused") return undefined;
  if (cluster.spec.tls?.mode === "Enabled")
    return act("enableAuthentication", {}, refusedLoginText(name, isRootMissing));
  return wait(lostLoginText(name, isRootMissing), recheckMs);
}
