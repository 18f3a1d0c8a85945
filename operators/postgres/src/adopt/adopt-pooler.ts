/** A PostgresPooler, of a Pooler. */
import { allowedParameters, parameterRefusals } from "../poolers/pooler-parameters.ts";
import type { Report } from "./difference.ts";
import { compareFields } from "./field-table.ts";
import type { Fields } from "./fields.ts";
import { clusterNameOf, type InputObject } from "./input-object.ts";
import type { Names } from "./names.ts";
import { poolerTable } from "./other-tables.ts";
import {
  compareMetadata,
  madeOf,
  type OutputObject,
  postgresVersion,
  unlessEmpty,
  withoutUndefined,
} from "./output-object.ts";

const instancesMax = 9;
const targets: Readonly<Record<string, string>> = { rw: "primary", ro: "replicas", r: "replicas" };

export function adoptPooler(input: InputObject, names: Names, report: Report): readonly OutputObject[] {
  const { spec } = input;
  compareMetadata(input, report);
  compareFields(poolerTable, spec.value, "spec", report);
  const cluster = clusterNameOf(input);
  const pgbouncer = spec.fields("pgbouncer");
  const written = {
    cluster,
    instances: instancesOf(spec, report),
    target: targetOf(spec, report),
    poolMode: pgbouncer.text("poolMode") ?? "session",
    parameters: parametersOf(pgbouncer, report),
    ...containerOf(spec, report),
  };
  const name = nameOf(input, cluster, names, report);
  return [madeOf(input, { apiVersion: postgresVersion, kind: "PostgresPooler", name }, written)];
}

/** Names with these ends are those of the Services of a cluster. */
function nameOf(input: InputObject, cluster: string, names: Names, report: Report): string {
  const isUsable = input.name !== cluster && !/-(rw|ro|r)$/.test(input.name);
  const name = names.unique("PostgresPooler", input.target, isUsable ? input.name : `${input.name}-pooler`);
  if (name === input.name) return name;
  const why = `the name is that of the Service, and -rw, -ro and -r are ends of a cluster's Services; ${name} is written`;
  report.add("metadata.name", "changed", why, "let clients use this host");
  return name;
}

function instancesOf(spec: Fields, report: Report): number {
  const given = spec.number("instances") ?? 1;
  const written = Math.min(instancesMax, Math.max(1, given));
  if (written !== given)
    report.add("spec.instances", "changed", `a PostgresPooler has 1 to ${instancesMax} pods, got ${given}`);
  return written;
}

function targetOf(spec: Fields, report: Report): string {
  const type = spec.text("type") ?? "rw";
  if (type === "r")
    report.add("spec.type", "changed", "a PostgresPooler is for the primary or for the replicas; replicas is written");
  return targets[type] ?? type;
}

function parametersOf(pgbouncer: Fields, report: Report): object | undefined {
  const given = pgbouncer.map("parameters");
  for (const { field, why } of parameterRefusals(given)) {
    const [, name = ""] = /\[(.*)\]$/.exec(field) ?? [];
    const text = allowedParameters.includes(name) ? why : "the operator sets it, or it is no setting of PgBouncer";
    report.add(`spec.pgbouncer.parameters[${name}]`, "dropped", text);
  }
  const refused = new Set(parameterRefusals(given).map(({ field }) => field));
  const taken = Object.entries(given).filter(([name]) => !refused.has(`spec.parameters[${name}]`));
  return unlessEmpty(Object.fromEntries(taken));
}

/** Image and resources of PgBouncer's container; the template may change others. */
function containerOf(spec: Fields, report: Report): Readonly<Record<string, unknown>> {
  const containers = spec.fields("template").fields("spec").list("containers");
  const own = containers.find((container) => container.text("name") === "pgbouncer");
  for (const container of containers)
    for (const field of Object.keys(container.value)) {
      const isCarried = container === own && ["name", "image", "resources"].includes(field);
      if (!isCarried) report.add(container.at(field), "dropped", "a PostgresPooler has image and resources alone");
    }
  if (own === undefined) return {};
  const resources = own.fields("resources");
  for (const field of Object.keys(resources.value).filter((each) => !["requests", "limits"].includes(each)))
    report.add(resources.at(field), "dropped", "a PostgresPooler has requests and limits alone");
  const part = (name: "requests" | "limits"): object | undefined => unlessEmpty(resources.quantities(name));
  const written = withoutUndefined({ requests: part("requests"), limits: part("limits") });
  return withoutUndefined({ image: imageOf(own), resources: unlessEmpty(written) });
}

/** CloudNativePG asks for a container in each template, whose image may be empty. */
function imageOf(container: Fields): string | undefined {
  const image = container.text("image");
  return image === "" ? undefined : image;
}
