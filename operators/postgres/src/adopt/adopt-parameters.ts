/** Settings of the server, as far as a PostgresCluster takes them. */
import { parameterRefusals } from "../kind/parameters.ts";
import type { Report } from "./difference.ts";
import type { Fields } from "./fields.ts";
import { unlessEmpty } from "./output-object.ts";

/** Libraries that CloudNativePG loads by itself when a setting of theirs is given. */
const loadedFor: readonly { readonly prefix: string; readonly library: string; readonly todo?: string }[] = [
  { prefix: "auto_explain.", library: "auto_explain" },
  {
    prefix: "pg_stat_statements.",
    library: "pg_stat_statements",
    todo: "create the extension in each database, by a PostgresDatabase or SQL",
  },
];
/** The same, of extensions that the official images do not have. */
const missingFor = ["pgaudit.", "pg_failover_slots."];

/** `parameters`, and the libraries among them. */
export function adoptParameters(postgresql: Fields, report: Report): Readonly<Record<string, string>> | undefined {
  const given = postgresql.map("parameters");
  const refused = parameterRefusals(given);
  const taken = Object.fromEntries(
    Object.entries(given).filter(([name]) => !refused.some(({ field }) => field === `spec.parameters[${name}]`)),
  );
  for (const { field, why } of refused)
    report.add(field.replace("spec.", "spec.postgresql."), "dropped", why.replace(/; remove it$/, ""));
  const libraries = librariesOf(postgresql, Object.keys(given), report);
  const loaded = libraries.length === 0 ? {} : { shared_preload_libraries: libraries.join(",") };
  return unlessEmpty({ ...taken, ...loaded });
}

function librariesOf(postgresql: Fields, names: readonly string[], report: Report): readonly string[] {
  const libraries = new Set(postgresql.texts("shared_preload_libraries"));
  for (const { prefix, library, todo } of loadedFor) {
    const name = names.find((each) => each.startsWith(prefix));
    if (name === undefined || libraries.has(library)) continue;
    libraries.add(library);
    const why = `CloudNativePG loads ${library} by itself; it is written to shared_preload_libraries`;
    report.add(`spec.postgresql.parameters[${name}]`, "changed", why, todo);
  }
  for (const name of names.filter((each) => missingFor.some((prefix) => each.startsWith(prefix)))) {
    const why = `the official images do not have ${name.split(".", 1)[0] ?? ""}, so it is not loaded`;
    report.add(`spec.postgresql.parameters[${name}]`, "byHand", why, "build an image with it, and load it");
  }
  return [...libraries];
}

const accessRulesMax = 50;
const accessRuleForm = /^(host|hostssl|hostnossl)\s[^\r\n]*$/;
const accessRuleLengthMax = 300;

/** Lines of pg_hba.conf. */
export function adoptAccessRules(postgresql: Fields, report: Report): readonly string[] | undefined {
  const rules = postgresql.texts("pg_hba").filter((line, index) => {
    const path = `spec.postgresql.pg_hba[${index}]`;
    if (line.trim() === "" || line.trimStart().startsWith("#")) {
      report.add(path, "unneeded", "the line has no rule");
      return false;
    }
    if (accessRuleForm.test(line) && line.length <= accessRuleLengthMax) return true;
    const why = `"${line}" is no line for spec.accessRules: expected host, hostssl or hostnossl and at most ${accessRuleLengthMax} characters`;
    report.add(path, "dropped", why, "write it as a rule over TCP where it is needed");
    return false;
  });
  for (let index = accessRulesMax; index < rules.length; index += 1) {
    const why = `a PostgresCluster takes ${accessRulesMax} lines; "${rules[index] ?? ""}" is beyond`;
    report.add("spec.postgresql.pg_hba", "dropped", why, "join lines by lists of users or wider networks");
  }
  return rules.length === 0 ? undefined : rules.slice(0, accessRulesMax);
}
