/** Reads everything that the plan of a role needs; changes nothing. */
import type { ReconcileContext, Stored } from "setpoint";
import { Secret } from "setpoint/kinds";
import { verifierOf } from "../inner/password-verifier.ts";
import { primaryManager } from "../inner/primary-manager.ts";
import { olderRival } from "../inner/rival.ts";
import { servedCluster } from "../inner/served-cluster.ts";
import type { InnerGateway } from "../instance/inner-gateway.ts";
import type { RoleDefinition } from "../instance/inner-protocol.ts";
import { PostgresRole, roleNameOf } from "./postgres-role.ts";
import { roleRefusals } from "./role-refusals.ts";
import { passwordLabel, readGenerated, secretNameOf, textIn } from "./role-secret.ts";
import type { SeenPassword, SeenRole } from "./role-seen.ts";
import { wantedRoles } from "./wanted-roles.ts";

export async function observeRole(
  role: Stored<PostgresRole>,
  context: ReconcileContext,
  gateway: InnerGateway,
): Promise<SeenRole> {
  const { namespace, uid } = role.metadata;
  const cluster = servedCluster(role.spec.cluster, context, namespace);
  const refusals = roleRefusals(role, cluster.kind === "missing" ? undefined : cluster.cluster, rivalOf(role, context));
  const password = await observePassword(role, context);
  const wanted = wantedRoles({ role, uid }, password, context.host.clock.now());
  const seen = { role, refusals, cluster, password, wanted };
  if (cluster.kind !== "serving" || refusals.length > 0 || password.kind === "refused") return seen;
  try {
    const at = await primaryManager(cluster, context);
    const answer = await gateway.askRoles(at, { asked: cluster.asked, roles: wanted }, context.signal);
    return { ...seen, answer, wanted: withoutNeverUsed(wanted, answer.roles) };
  } catch (error) {
    context.signal.throwIfAborted();
    context.controller.cannotReach(`PostgresCluster "${role.spec.cluster}"`);
    return { ...seen, silence: error instanceof Error ? error.message : String(error) };
  }
}

function rivalOf(role: Stored<PostgresRole>, { list }: ReconcileContext): string | undefined {
  const same = list(PostgresRole).filter(
    (each) => each.spec.cluster === role.spec.cluster && roleNameOf(each) === roleNameOf(role),
  );
  return olderRival(role, same);
}

/** A login that never was is not created to be disabled. */
function withoutNeverUsed(
  wanted: readonly RoleDefinition[],
  present: Readonly<Record<string, unknown>>,
): readonly RoleDefinition[] {
  return wanted.filter(
    ({ name, verifier, actsAs }) => actsAs === undefined || present[name] !== null || typeof verifier === "string",
  );
}

async function observePassword(role: Stored<PostgresRole>, context: ReconcileContext): Promise<SeenPassword> {
  const { password } = role.spec;
  if (password === undefined) return { kind: "none" };
  const name = secretNameOf(role);
  const { namespace, uid } = role.metadata;
  // One that has no label is in no cache.
  const secret = context.get(Secret, name, namespace) ?? (await context.fresh(Secret, name, namespace));
  if (password.source === "given") return givenPassword(role, name, secret);
  if (secret === undefined || secret.metadata.deletionTimestamp !== undefined) return { kind: "absent" };
  const isOurs = secret.metadata.ownerReferences?.some((owner) => owner.uid === uid) ?? false;
  if (isOurs) return { kind: "generated", ...readGenerated(secret) };
  return {
    kind: "refused",
    why: `Secret "${name}" belongs to another owner; delete it, set spec.password.secretName, or set spec.password.source: given`,
  };
}

/** A user who may create roles may have no right to the Secret; its label allows the use. */
function givenPassword(role: Stored<PostgresRole>, name: string, secret: Stored<Secret> | undefined): SeenPassword {
  const refuse = (why: string): SeenPassword => ({ kind: "refused", why });
  if (secret === undefined) return refuse(`Secret "${name}" does not exist; create it with the key password`);
  if (secret.metadata.labels?.[passwordLabel] !== "true")
    return refuse(
      `Secret "${name}" may not be used for a role; allow it: kubectl label secret ${name} -n ${role.metadata.namespace ?? ""} ${passwordLabel}=true`,
    );
  const [user, password] = [textIn(secret, "username"), textIn(secret, "password")];
  const wanted = roleNameOf(role);
  if (user !== undefined && user !== wanted)
    return refuse(`Secret "${name}" has username "${user}", expected "${wanted}", or no username`);
  if (password === undefined || password === "") return refuse(`Secret "${name}" has no key password`);
  const verifier = verifierOf(password, role.metadata.uid, wanted);
  if (verifier !== undefined) return { kind: "given", verifier };
  return refuse(
    `the password of Secret "${name}" has characters that PostgreSQL and its clients read in different ways; expected printable ASCII characters on one line, or a SCRAM-SHA-256 verifier`,
  );
}
