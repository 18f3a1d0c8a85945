/** Prints measurements of clusters, a column each. */
import { type Measurement, quantile } from "./measurement.ts";

interface Row {
  readonly what: string;
  readonly of: (measurement: Measurement) => string;
}

const labelWidth = 46;
const columnWidth = 16;
/** Programs that hold less are one line. */
const programMbMin = 5;

const rows: readonly Row[] = [
  ...[0.1, 0.5, 1].map((part) => ({
    what: `${part * 100} % of the pods Ready after, s`,
    of: ({ pods, readyMs }: Measurement) => seconds(readyMs[Math.ceil(pods * part) - 1]),
  })),
  { what: "processor time until all Ready, s", of: (each) => each.cpuSeconds.toFixed(1) },
  { what: "  of the whole machine, client and kernel too", of: (each) => each.machineBusySeconds.toFixed(1) },
  { what: "a GET meanwhile, ms: median", of: ({ apiMs }) => quantile(apiMs, 0.5).toFixed(1) },
  { what: "  99 %", of: ({ apiMs }) => quantile(apiMs, 0.99).toFixed(1) },
  { what: "  most", of: ({ apiMs }) => quantile(apiMs, 1).toFixed(1) },
  { what: "memory without pods (PSS), MB", of: ({ before }) => before.pssMb.toFixed(0) },
  { what: "memory with pods (PSS), MB", of: ({ after }) => after.pssMb.toFixed(0) },
  { what: "  sum of RSS, MB", of: ({ after }) => after.rssMb.toFixed(0) },
  { what: "  a pod (PSS), MB", of: ({ before, after, pods }) => ((after.pssMb - before.pssMb) / pods).toFixed(2) },
  {
    what: "  a pod, by what the machine has left, MB",
    of: ({ before, after, pods }) => ((before.machineAvailableMb - after.machineAvailableMb) / pods).toFixed(2),
  },
  { what: "processes without pods", of: ({ before }) => String(before.processes) },
  { what: "processes with pods", of: ({ after }) => String(after.processes) },
  { what: "idle without pods, % of a core", of: (each) => each.emptyIdlePercent.toFixed(1) },
  { what: "idle with pods, % of a core", of: (each) => each.idlePercent.toFixed(1) },
  { what: "all deleted after, s", of: ({ deleteMs }) => seconds(deleteMs) },
  { what: "a GET meanwhile, ms: 99 %", of: ({ apiDeleteMs }) => quantile(apiDeleteMs, 0.99).toFixed(1) },
  { what: "load average before", of: ({ loadBefore }) => loadBefore.toFixed(1) },
  { what: "load average after", of: ({ loadAfter }) => loadAfter.toFixed(1) },
];

/** The table, what holds the memory, and what went wrong. */
export function printReport(columns: Readonly<Record<string, Measurement>>): void {
  const all = Object.values(columns);
  console.log(`\n${line("", Object.keys(columns))}`);
  for (const { what, of } of rows) console.log(line(what, all.map(of)));
  for (const [name, measurement] of Object.entries(columns)) {
    console.log(`Memory with pods, ${name}: ${programsText(measurement)}`);
    for (const sentence of failures(measurement)) console.log(`${name}: ${sentence}`);
  }
}

/** Why a measurement is of fewer pods than it should be. */
export function failures({ pods, readyMs, deleteMs, complaints }: Measurement): readonly string[] {
  return [
    ...(readyMs.length < pods ? [`of ${pods} pods ${readyMs.length} became Ready`] : []),
    ...Object.entries(complaints).map(([why, count]) => `${count} × ${why}`),
    ...(Number.isFinite(deleteMs) ? [] : ["not all pods could be deleted"]),
  ];
}

function programsText({ after }: Measurement): string {
  const large = after.programs.filter(({ pssMb }) => pssMb >= programMbMin);
  const others = after.programs.slice(large.length).reduce((sum, { pssMb }) => sum + pssMb, 0);
  const parts = large.map(({ program, processes, pssMb }) => `${program} × ${processes} ${pssMb.toFixed(0)} MB`);
  return [...parts, `others ${others.toFixed(0)} MB`].join(", ");
}

function line(what: string, cells: readonly string[]): string {
  return `${what.padEnd(labelWidth)}${cells.map((cell) => cell.padStart(columnWidth)).join("")}`;
}

/** JSON has no NaN: what did not happen is null in a result. */
function seconds(ms: number | null | undefined): string {
  return Number.isFinite(ms) ? (Number(ms) / 1_000).toFixed(2) : "never";
}
