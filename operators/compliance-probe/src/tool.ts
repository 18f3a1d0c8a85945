/** The command `setpoint compliance`: the verdict of a probe for a pipeline, and reports. */
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { parseDuration } from "setpoint";
import type { ComplianceProbe } from "./kind/compliance-probe.ts";
import { baselineText } from "./report/baseline.ts";
import { htmlText } from "./report/html.ts";
import { type ProbeReport, reportOf, violationsOf } from "./report/probe-report-facts.ts";
import { ClusterProbes, readProbeFile } from "./report/probe-source.ts";
import { sarifText } from "./report/sarif.ts";
import { reportLines } from "./report/text.ts";

/** Where a command writes to. */
export interface ToolOutput {
  out(text: string): void;
  err(text: string): void;
}

const options = {
  namespace: { type: "string", default: "default" },
  file: { type: "string" },
  run: { type: "boolean", default: false },
  timeout: { type: "string", default: "5m" },
  baseline: { type: "string" },
  sarif: { type: "string" },
  html: { type: "string" },
  until: { type: "string" },
} as const;

type Flags = ReturnType<typeof parseFlags>["values"];

function parseFlags(args: readonly string[]) {
  return parseArgs({ args: [...args], options, allowPositionals: true });
}

/**
 * Resolves to the exit code: 0 when nothing is allowed that must be denied, 1 when something is, 2 when that
 * is not known.
 */
export default async function tool(args: readonly string[], output: ToolOutput): Promise<number> {
  const { values, positionals } = parseFlags(args);
  const [verb = "", name] = positionals;
  if (
    !["check", "accept"].includes(verb) ||
    positionals.length > 2 ||
    (name === undefined) === (values.file === undefined)
  )
    throw new Error("Cannot run the command: expected check NAME, accept NAME, or --file FILE in place of NAME");
  if (values.run && name === undefined) throw new Error("Cannot use --run with --file: a file cannot run");
  const probe = await readProbe(name, values).catch((error: unknown) => reported(error, output));
  if (probe === undefined) return 2;
  const baseline = values.baseline === undefined ? undefined : readProbeFile(values.baseline);
  const report = reportOf(probe, baseline);
  if (verb === "check") return check(report, values, output);
  output.out(baselineText(report, values.until));
  return 0;
}

function readProbe(name: string | undefined, { namespace, file, run, timeout }: Flags): Promise<ComplianceProbe> {
  if (name === undefined) return Promise.resolve(readProbeFile(file ?? ""));
  const place = { name, namespace };
  const probes = new ClusterProbes();
  return run ? probes.run(place, parseDuration(timeout)) : probes.read(place);
}

function reported(error: unknown, output: ToolOutput): undefined {
  output.err(`${error instanceof Error ? error.message : String(error)}\n`);
}

function check(report: ProbeReport, { sarif, html }: Flags, output: ToolOutput): number {
  if (sarif !== undefined) writeFileSync(sarif, sarifText(report, ownVersion()));
  if (html !== undefined) writeFileSync(html, htmlText(report));
  for (const line of reportLines(report)) output.out(`${line}\n`);
  if (violationsOf(report).length > 0) return 1;
  if (report.failure === undefined && report.acts.some(({ result }) => result.verdict !== "Untried")) return 0;
  output.err(`${report.namespace}/${report.name}: no run has tried the acts completely\n`);
  return 2;
}

function ownVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string };
  return manifest.version;
}
