/** What the spec of a cluster asks of its instances; pure. */
import type { DesiredInstance, ServerSettings, WantedImport } from "../instance/instance-protocol.ts";
import type { WantedUpgrade } from "../instance/upgrade-protocol.ts";
import { parseQuantity } from "setpoint/kinds";
import { instanceHost } from "./names.ts";
import { addressOf } from "./other-server.ts";
import { defaultParameters, parameterRefusals } from "./parameters.ts";
import type { PostgresCluster } from "./postgres-cluster.ts";

const nanosInMegabyte = 1_000_000_000n << 20n;

/** Settings without the refused ones; `replicas` are those that may be synchronous now. */
export function settingsOf(
  { spec, metadata: { name = "" } }: PostgresCluster,
  replicas: readonly string[],
): ServerSettings {
  const given = spec.parameters ?? {};
  const refused = new Set(parameterRefusals(given).map(({ field }) => field));
  const accepted = Object.entries(given).filter(([key]) => !refused.has(`spec.parameters[${key}]`));
  const names = Array.from({ length: spec.instances }, (_, at) => `${name}-${at + 1}`);
  return {
    parameters: { ...defaultParameters, ...Object.fromEntries(accepted) },
    accessRules: spec.accessRules ?? [],
    isArchived: spec.archive !== undefined,
    synchronousStandbyNames: synchronousNames(spec.synchronous, names, replicas),
    database: { name: spec.database?.name ?? "app", owner: spec.database?.owner ?? "app" },
    ...memoryOf(spec.resources?.limits?.["memory"]),
  };
}

function memoryOf(limit: string | undefined): Pick<ServerSettings, "memoryMegabytes"> {
  return limit === undefined ? {} : { memoryMegabytes: Number(parseQuantity(limit).nanos / nanosInMegabyte) };
}

/** `ANY 1 ("orders-1", "orders-2")`; a primary that finds itself in the list waits for the others. */
function synchronousNames(
  wanted: PostgresCluster["spec"]["synchronous"],
  names: readonly string[],
  replicas: readonly string[],
): string {
  if (wanted === undefined) return "";
  const number = wanted.durability === "required" ? wanted.number : Math.min(wanted.number, replicas.length);
  return number === 0 ? "" : `ANY ${number} (${names.map((name) => `"${name}"`).join(", ")})`;
}

/** What all instances of the cluster are sent. */
export function desiredInstance(
  cluster: PostgresCluster,
  {
    names,
    replicas,
    mayPromote,
    fenced,
    upgrade,
    dropsSafetyCopy,
  }: {
    readonly names: readonly string[];
    readonly replicas: readonly string[];
    readonly mayPromote: boolean;
    readonly fenced: readonly string[];
    readonly upgrade: WantedUpgrade | undefined;
    readonly dropsSafetyCopy: boolean;
  },
): DesiredInstance {
  const { term = 0, primary, systemID, restored } = cluster.status ?? {};
  const isFirstStart = systemID === undefined && restored === undefined;
  return {
    term,
    ...(primary === undefined ? {} : { primary }),
    mayPromote,
    isFirstStart,
    ...(isFirstStart ? bootstrapOf(cluster) : {}),
    peers: names.map((name) => ({ name, host: instanceHost(name, cluster) })),
    settings: settingsOf(cluster, replicas),
    ...(fenced.length === 0 ? {} : { fenced }),
    dataVersion: cluster.spec.version,
    ...(upgrade === undefined ? {} : { upgrade }),
    ...(dropsSafetyCopy ? { dropsSafetyCopy } : {}),
  };
}

/** What the first start fills the data with. */
function bootstrapOf({ spec }: PostgresCluster): Pick<DesiredInstance, "import" | "baseBackup"> {
  const { import: wanted, baseBackup } = spec.bootstrap ?? {};
  if (baseBackup !== undefined) return { baseBackup: addressOf(baseBackup.from) };
  return wanted === undefined ? {} : { import: importOf(wanted) };
}

function importOf({
  from,
  type,
  databases,
  roles,
  rolePasswords,
}: NonNullable<NonNullable<PostgresCluster["spec"]["bootstrap"]>["import"]>): WantedImport {
  return {
    from: addressOf(from),
    isMicroservice: type === "microservice",
    databases,
    roles,
    hasRolePasswords: rolePasswords,
  };
}
