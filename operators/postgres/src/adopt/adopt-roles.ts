/** PostgresRoles, of the managed roles of a Cluster. */
import { innerName, isReservedRole, superuserGroups } from "../kind/inner-names.ts";
import type { Report } from "./difference.ts";
import type { Fields } from "./fields.ts";
import { type InputObject, isMoved, targetFlag } from "./input-object.ts";
import { type Names, objectName } from "./names.ts";
import { besideOf, type OutputObject, postgresVersion, withoutUndefined } from "./output-object.ts";

const roleNameMax = 61;

/** `owner` is the owner of the cluster's database, who is no PostgresRole. */
export function adoptRoles(
  input: InputObject,
  { owner, version }: { readonly owner: string; readonly version: string },
  names: Names,
  report: Report,
): readonly OutputObject[] {
  return input.spec
    .fields("managed")
    .list("roles")
    .flatMap((role) => {
      const why = refusal(role, owner);
      if (why !== undefined) {
        report.add(role.path, ...why);
        return [];
      }
      return [adoptRole(input, role, version, names, report)];
    });
}

type Refusal = readonly ["dropped" | "unneeded", string, string?];

function refusal(role: Fields, owner: string): Refusal | undefined {
  const name = role.requiredText("name");
  if (role.text("ensure") === "absent")
    return ["unneeded", `the role "${name}" is not wanted, so nothing is written`, "drop it if the moved data have it"];
  if (name === owner)
    return [
      "dropped",
      `"${name}" owns the cluster's database, and the operator keeps its login in Secret "NAME-app"`,
      "use ALTER ROLE for other attributes",
    ];
  if (isReservedRole(name))
    return ["dropped", `"${name}" belongs to PostgreSQL or to the operator`, "use a role of another name"];
  if (!innerName.test(name) || name.length > roleNameMax)
    return [
      "dropped",
      `"${name}" is no name for a PostgresRole: expected at most ${roleNameMax} lower case letters, digits, - and _`,
      "keep it by SQL",
    ];
  return undefined;
}

function adoptRole(input: InputObject, role: Fields, version: string, names: Names, report: Report): OutputObject {
  const name = role.requiredText("name");
  const kind = "PostgresRole";
  const object = names.unique(kind, input.target, objectName(`${input.name}-${name}`));
  return besideOf(
    input,
    { apiVersion: postgresVersion, kind, name: object },
    withoutUndefined({
      cluster: input.name,
      role: name,
      login: role.boolean("login") ?? false,
      createDatabase: role.boolean("createdb"),
      createRole: createRole(role, version, report),
      inherit: role.boolean("inherit"),
      connectionLimit: role.number("connectionLimit"),
      validUntil: role.text("validUntil"),
      memberOf: memberOf(role, report),
      password: passwordOf(input, role, report),
      // The data that are moved bring it along.
      adopt: true,
    }),
  );
}

function createRole(role: Fields, version: string, report: Report): boolean | undefined {
  const given = role.boolean("createrole");
  if (given !== true || version !== "15") return given;
  const why = "in PostgreSQL 15 a role that creates roles can become a superuser";
  report.add(role.at("createrole"), "dropped", why, "create roles as PostgresRoles, or use version 17");
  return undefined;
}

function memberOf(role: Fields, report: Report): readonly string[] | undefined {
  const given = role.texts("inRoles");
  const taken = given.filter((group) => !superuserGroups.includes(group) && !isOperators(group));
  for (const group of given.filter((each) => !taken.includes(each))) {
    const why = `members of "${group}" can do what a superuser can`;
    report.add(role.at("inRoles"), "dropped", why, "grant the rights that are needed");
  }
  return taken.length === 0 ? undefined : taken;
}

function isOperators(group: string): boolean {
  return isReservedRole(group) && !group.startsWith("pg_");
}

function passwordOf(input: InputObject, role: Fields, report: Report): object | undefined {
  const secretName = role.fields("passwordSecret").text("name");
  const path = role.at("passwordSecret");
  if (secretName !== undefined) {
    const label = `kubectl${targetFlag(input)} label secret ${secretName} postgres.setpoint.dev/role-password=true`;
    report.add(
      path,
      "byHand",
      "the Secret with the password needs a label",
      `${isMoved(input) ? "copy it, and " : ""}run: ${label}`,
    );
    return { source: "given", secretName };
  }
  if (role.boolean("disablePassword") !== true && role.boolean("login") === true) {
    const why = "a PostgresRole without password has none, and CloudNativePG leaves the one that is there";
    report.add(path, "changed", why, "add password: {} for one that the operator makes");
  }
  return undefined;
}
