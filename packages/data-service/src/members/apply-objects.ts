/** Creates the Services and the disruption budget of an instance, and restores those that others changed. */
import type { ReconcileContext } from "setpoint";
import { PodDisruptionBudget, Service } from "setpoint/kinds";
import { budgetRestoration, memberBudget } from "./disruption-budget.ts";
import type { MemberSet } from "./member-set.ts";
import { memberService, type ServiceRole, serviceRestoration } from "./services.ts";

/** The Services of these names, as their roles want them; returns those that it created. */
export async function applyMemberServices(
  { apply, get, patch }: ReconcileContext,
  set: MemberSet,
  { roles, names }: { readonly roles: readonly ServiceRole[]; readonly names: readonly string[] },
): Promise<readonly Service[]> {
  const created: Service[] = [];
  for (const role of roles.filter(({ nameOf }) => names.includes(nameOf(set.name)))) {
    const wanted = memberService(set, role);
    const present = get(Service, role.nameOf(set.name), set.namespace);
    if (present === undefined) created.push(await apply(wanted));
    // The list of ports is written as a whole, so nothing may have changed since it was read.
    else await patch(present, serviceRestoration(present, wanted), { unchanged: true });
  }
  return created;
}

/** The disruption budget that leaves at least `minAvailable` members. */
export async function applyMemberBudget(
  { apply, get, patch }: ReconcileContext,
  set: MemberSet,
  minAvailable: number,
): Promise<void> {
  const wanted = memberBudget(set, minAvailable);
  const present = get(PodDisruptionBudget, set.name, set.namespace);
  if (present === undefined) await apply(wanted);
  else await patch(present, budgetRestoration(present, wanted), { unchanged: true });
}
