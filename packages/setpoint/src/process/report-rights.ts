import { SetpointError, type Transport } from "@setpoint/apimachinery";
import { createClient, type RecordedUse } from "@setpoint/client";
import type { Host } from "@setpoint/host";
import type { Operator } from "../operator.ts";
import { findMissingRights, missingRightSentence, type WantedRules } from "../rights/check-rights.ts";
import { unusedRights } from "../rights/right.ts";

export interface RightsReportOptions {
  readonly transport: Transport;
  readonly host: Host;
  /** The only namespaces that are looked at; absent: all. */
  readonly namespaces?: readonly string[];
  /** Where its lease is; absent: it has none. */
  readonly ownNamespace?: string;
  /** Refuse to start when something is missing. */
  readonly isRequired: boolean;
}

/**
 * Says which declared rights the account lacks, one sentence each. Errors: `ERR_RIGHTS_MISSING` when they are
 * required.
 */
export async function reportMissingRights(operator: Operator, options: RightsReportOptions): Promise<void> {
  const { transport, host, namespaces, ownNamespace, isRequired } = options;
  const own: readonly WantedRules[] =
    ownNamespace === undefined ? [] : [{ rules: operator.ownRules, namespace: ownNamespace }];
  const places = namespaces?.map((namespace) => ({ namespace })) ?? [{}];
  const wanted = [...places.map((place) => ({ rules: operator.rules, ...place })), ...own];
  let sentences: readonly string[];
  try {
    sentences = (await findMissingRights(createClient(transport, host), wanted)).map(missingRightSentence);
  } catch (cause) {
    if (!isRequired) return host.log.warn("Rights could not be checked", { why: textOf(cause) });
    const message = `Cannot start operator "${operator.name}": its rights could not be checked, and it requires them`;
    throw new SetpointError("ERR_RIGHTS_MISSING", message, { cause });
  }
  for (const sentence of sentences) host.log.warn("Right is missing", { right: sentence });
  if (!isRequired || sentences.length === 0) return;
  const message = `Cannot start operator "${operator.name}": ${sentences.length} of its rights are missing\n${sentences.join("\n")}`;
  throw new SetpointError("ERR_RIGHTS_MISSING", message);
}

/** With its causes, and without their stacks: a server that is away is no mistake of the program. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? "" : textOf(error.cause);
  return cause === "" || error.message.includes(cause) ? error.message : `${error.message}: ${cause}`;
}

/**
 * Says at the end, on a desk, which declared rights were never needed: a hint for the author, not a verdict.
 */
export function reportUnusedRights(operator: Operator, use: RecordedUse, { log }: Host): void {
  const unused = unusedRights(operator.rules, use.rights);
  if (unused.length === 0) return;
  const rights = unused.map(({ verb, group, resource }) => `${verb} ${resource}${group === "" ? "" : `.${group}`}`);
  log.info("Declared rights were never used", { rights });
}
