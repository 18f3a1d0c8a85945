/** A report as SARIF 2.1.0, which code hosts and scanners read; pure. */
import { catalogue } from "../acts/catalogue.ts";
import type { Severity } from "../acts/act.ts";
import type { Comparison, ProbeReport, ReportedAct } from "./probe-report-facts.ts";

const schema = "https://json.schemastore.org/sarif-2.1.0.json";

const levels: Readonly<Record<Severity, "error" | "warning" | "note">> = {
  high: "error",
  medium: "warning",
  low: "note",
};

/** `absent` is for results that are no longer there; one that is fixed is still reported, as a pass. */
const states: Readonly<Record<Comparison, "new" | "unchanged" | "updated">> = {
  new: "new",
  known: "unchanged",
  fixed: "updated",
  unchanged: "unchanged",
};

export function sarifText(report: ProbeReport, version: string): string {
  return `${JSON.stringify(sarif(report, version), undefined, 2)}\n`;
}

function sarif(report: ProbeReport, version: string): object {
  const driver = {
    name: "setpoint-compliance",
    version,
    rules: catalogue.map(({ name, tries, because, remedy, severity }) => ({
      id: name,
      shortDescription: { text: `A workload must not ${tries}.` },
      fullDescription: { text: `It must be denied because ${because}.` },
      help: { text: `What denies it: ${remedy}.` },
      defaultConfiguration: { level: levels[severity] },
    })),
  };
  const invocation = {
    executionSuccessful: report.failure === undefined,
    ...(report.finishedAt === undefined ? {} : { endTimeUtc: report.finishedAt }),
  };
  return {
    $schema: schema,
    version: "2.1.0",
    runs: [{ tool: { driver }, invocations: [invocation], results: report.acts.map((each) => resultOf(each, report)) }],
  };
}

function resultOf({ act, result, compared }: ReportedAct, report: ProbeReport): object {
  const place = `namespaces/${report.namespace}/complianceprobes/${report.name}`;
  const { verdict, accepted } = result;
  const index = catalogue.findIndex(({ name }) => name === act.name);
  return {
    ruleId: act.name,
    ...(index === -1 ? {} : { ruleIndex: index }),
    kind: verdict === "Allowed" ? "fail" : verdict === "Denied" ? "pass" : "notApplicable",
    level: verdict === "Allowed" ? levels[act.severity] : "none",
    message: { text: `${verdict}: ${act.tries}: ${result.reason}` },
    locations: [
      {
        // Code hosts show only results that have a file.
        physicalLocation: { artifactLocation: { uri: place } },
        logicalLocations: [{ fullyQualifiedName: place, kind: "resource" }],
      },
    ],
    partialFingerprints: { act: `${place}/${act.name}` },
    ...(accepted === undefined ? {} : { suppressions: [{ kind: "external", justification: accepted }] }),
    ...(compared === undefined ? {} : { baselineState: states[compared] }),
  };
}
