/** What reports show of a probe, and how it differs from an earlier one; pure. */
import type { Act } from "../acts/act.ts";
import { findAct } from "../acts/catalogue.ts";
import type { ActResult, ComplianceProbe } from "../kind/compliance-probe.ts";

/** One line of a report. */
export interface ReportedAct {
  readonly act: Pick<Act, "name" | "tries" | "because" | "remedy" | "severity">;
  readonly result: ActResult;
  /** Undefined without a baseline. */
  readonly compared: Comparison | undefined;
}

/** `new`: allowed now and not in the baseline. `fixed`: the other way round. */
export type Comparison = "new" | "known" | "fixed" | "unchanged";

export interface ProbeReport {
  readonly namespace: string;
  readonly name: string;
  readonly finishedAt: string | undefined;
  readonly failure: string | undefined;
  readonly acts: readonly ReportedAct[];
}

/** `baseline` is an earlier state of the probe, or of another one. */
export function reportOf(probe: ComplianceProbe, baseline?: ComplianceProbe): ProbeReport {
  const { metadata, status } = probe;
  const known = baseline === undefined ? undefined : allowedIn(baseline);
  return {
    namespace: metadata.namespace ?? "default",
    name: metadata.name ?? "",
    finishedAt: status?.lastRun?.finishedAt,
    failure: status?.lastRun?.failure,
    acts: (status?.results ?? []).map((result) => ({
      act: findAct(result.act) ?? unknownAct(result.act),
      result,
      compared: known === undefined ? undefined : comparison(result, known),
    })),
  };
}

/** Of a newer release. */
function unknownAct(name: string): ReportedAct["act"] {
  const text = "this release does not know the act";
  return { name, tries: text, because: text, remedy: text, severity: "high" };
}

function allowedIn({ status }: ComplianceProbe): ReadonlySet<string> {
  return new Set((status?.results ?? []).flatMap(({ act, verdict }) => (verdict === "Allowed" ? [act] : [])));
}

function comparison({ act, verdict }: ActResult, known: ReadonlySet<string>): Comparison {
  if (verdict === "Allowed") return known.has(act) ? "known" : "new";
  return verdict === "Denied" && known.has(act) ? "fixed" : "unchanged";
}

/** What must not be: allowed, not accepted, and not in the baseline. */
export function violationsOf({ acts }: ProbeReport): readonly ReportedAct[] {
  return acts.filter(
    ({ result, compared }) => result.verdict === "Allowed" && result.accepted === undefined && compared !== "known",
  );
}
