/** The requests about roles and databases, as the primary answers them. */
import type { Addressee } from "../../instance/inner-protocol.ts";
import { rolePath, roleQuestionPath, roleRemovalPath } from "../../instance/inner-protocol.ts";
import type { InstanceManager } from "../instance-manager.ts";
import { Refusal } from "../refusal.ts";
import type { Sql } from "../sql.ts";
import { databasePath, databaseQuestionPath, databaseRemovalPath } from "../../instance/database-protocol.ts";
import { answerDatabase, changeDatabase, removeDatabase } from "./databases.ts";
import { forgetHeldTable } from "./held-objects.ts";
import { parseDatabaseChange, parseDatabaseQuestion, parseDatabaseRemoval } from "./parse-databases.ts";
import { addresseeIn, parseRoleChange, parseRoleQuestion, parseRoleRemoval } from "./parse-roles.ts";
import { poolerLoginPath } from "../../instance/pooler-protocol.ts";
import { objectOf } from "./parse-fields.ts";
import { ensurePoolerLogin } from "./pooler-login.ts";
import { answerRoles, changeRoles, removeRoles } from "./roles.ts";

interface Parts {
  readonly manager: Pick<InstanceManager, "name" | "desired" | "isPrimary">;
  readonly sql: Sql;
}

type Answer = (body: unknown, sql: Sql) => { readonly asked: Addressee; readonly give: () => Promise<object> };

const answers: Readonly<Record<string, Answer>> = {
  [`POST ${roleQuestionPath}`](body, sql) {
    const question = parseRoleQuestion(body);
    return { asked: question.asked, give: () => answerRoles(sql, question) };
  },
  [`PUT ${rolePath}`](body, sql) {
    const change = parseRoleChange(body);
    return { asked: change.asked, give: () => changeRoles(sql, change) };
  },
  [`POST ${roleRemovalPath}`](body, sql) {
    const removal = parseRoleRemoval(body);
    return { asked: removal.asked, give: () => removeRoles(sql, removal) };
  },
  [`PUT ${poolerLoginPath}`](body, sql) {
    return { asked: addresseeIn(objectOf(body, "the request")), give: () => ensurePoolerLogin(sql) };
  },
  [`POST ${databaseQuestionPath}`](body, sql) {
    const question = parseDatabaseQuestion(body);
    return { asked: question.asked, give: () => answerDatabase(sql, question) };
  },
  [`PUT ${databasePath}`](body, sql) {
    const change = parseDatabaseChange(body);
    return { asked: change.asked, give: () => changeDatabase(sql, change) };
  },
  [`POST ${databaseRemovalPath}`](body, sql) {
    const removal = parseDatabaseRemoval(body);
    return { asked: removal.asked, give: () => removeDatabase(sql, removal) };
  },
};

/** Undefined for a call that is about something else. */
export async function answerInner(
  call: string,
  readBody: () => Promise<unknown>,
  { manager, sql }: Parts,
): Promise<object | undefined> {
  const answer = answers[call];
  if (answer === undefined) return undefined;
  const { asked, give } = answer(await readBody(), sql);
  await checkAddressee(asked, manager);
  return give().catch((error: unknown) => {
    forgetHeldTable(sql);
    throw error;
  });
}

/** An instance that was the primary before, or will be, does nothing. */
export async function checkAddressee({ primary, term }: Addressee, manager: Parts["manager"]): Promise<void> {
  const own = manager.desired?.term ?? 0;
  if (manager.name !== primary || own !== term)
    throw new Refusal(409, `This is ${manager.name} in term ${own}, and ${primary} in term ${term} is asked`);
  if (!(await manager.isPrimary())) throw new Refusal(409, `${primary} does not accept writes at the moment`);
}
