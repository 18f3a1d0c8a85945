/** An application logs in with what its ServiceBinding gives it. */
import { ServiceBinding } from "../../kinds/service-binding.ts";
import { type Check, type CheckContext, done, failed, skipped, type StepReport, waiting } from "../check.ts";
import { instanceNamed, referenceToMain } from "../instances.ts";
import { nameOf, namespaceOf, read, removed } from "../objects.ts";
import { completeProbe } from "../probes.ts";

const part = "binding";
const loginNote = "secret";

export const binding: Check = {
  name: "binding",
  needs: "create-and-use",
  steps: [
    bind,
    isBound,
    ...completeProbe({ name: "login", task: "write", keys: "binding", count: 5, loginNote }),
    (context) => removed(context, ServiceBinding, nameOf(context, part), context.notes["uid"]),
  ],
};

async function bind(context: CheckContext): Promise<StepReport> {
  const { acceptance, api } = context;
  const { users, name: engine } = acceptance.engine;
  if (users === undefined) return skipped(`the engine "${engine}" has no users`);
  const refusal = users.unavailable?.(await instanceNamed(context));
  if (refusal !== undefined) return skipped(`the instance has no users: ${refusal}`);
  const spec = { instance: referenceToMain(context), rights: { ...acceptance.bindingRights } };
  const created = await api.create(
    ServiceBinding({ name: nameOf(context, part), namespace: namespaceOf(context), spec }),
  );
  context.note("uid", created.metadata.uid);
  return done;
}

async function isBound(context: CheckContext): Promise<StepReport> {
  const name = nameOf(context, part);
  const found = await read(context, ServiceBinding, name);
  if (found === undefined) return failed(`ServiceBinding "${name}" does not exist`);
  const { binding: secret, logins = [], conditions = [] } = found.status ?? {};
  if (secret === undefined || !logins.some(({ state }) => state === "Active"))
    return waiting(`ServiceBinding "${name}" has no login: ${reasons(conditions)}`);
  context.note(loginNote, secret.name);
  return done;
}

function reasons(conditions: readonly { readonly status: string; readonly message: string }[]): string {
  const messages = conditions.flatMap(({ status, message }) => (status === "True" ? [] : [message]));
  return messages.length === 0 ? "not yet reconciled" : messages.join("; ");
}
