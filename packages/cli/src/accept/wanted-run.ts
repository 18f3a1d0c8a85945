/** The AcceptanceRun that a call of `setpoint accept` asks for: from a file, or made for a kind. */
import { existsSync, readFileSync } from "node:fs";
import { decodeYamlText, messageOf, SetpointError } from "@setpoint/apimachinery";
import { type Client, RestMapping } from "@setpoint/client";
import { type Host, randomSuffix } from "@setpoint/host";
import { usageError } from "../command.ts";
import { yamlDocuments } from "../yaml-documents.ts";
import { type AcceptanceRun, acceptanceRuns } from "./acceptance-run.ts";

const apiVersion = `${acceptanceRuns.group}/${acceptanceRuns.version}`;

export interface Wanted {
  /** A YAML file with an AcceptanceRun, or the name of a kind. */
  readonly what: string;
  readonly name: string | undefined;
  readonly version: string | undefined;
  readonly checks: readonly string[] | undefined;
  readonly checkTimeoutSeconds: number | undefined;
}

/** Errors: `ERR_USAGE` for a file that holds no AcceptanceRun; `ERR_UNKNOWN_RESOURCE` for an unknown kind. */
export async function wantedRun(wanted: Wanted, client: Client, host: Host): Promise<AcceptanceRun> {
  return /\.(ya?ml|json)$/.test(wanted.what) ? runOfFile(wanted) : runOfKind(wanted, client, host);
}

function runOfFile({ what, name, version, checks, checkTimeoutSeconds }: Wanted): AcceptanceRun {
  if (checks !== undefined || checkTimeoutSeconds !== undefined)
    throw unusable(what, "--check and --check-timeout go with a kind; a file names its checks in spec.checks");
  if (version !== undefined)
    throw unusable(what, "--version goes with a kind; a file names its version in spec.version");
  if (!existsSync(what)) throw unusable(what, "no such file");
  const run = readRun(what);
  if (name !== undefined) return { ...run, metadata: { ...run.metadata, name } };
  if (run.metadata.name === undefined) throw unusable(what, "metadata.name is missing; set it, or use --name");
  return run;
}

function readRun(file: string): AcceptanceRun {
  const [run, ...others] = documentsOf(file) as readonly (Partial<AcceptanceRun> | null)[];
  if (others.length > 0)
    throw unusable(file, `expected one ${acceptanceRuns.kind}, got ${others.length + 1} documents`);
  if (run?.kind !== acceptanceRuns.kind || run.apiVersion !== apiVersion)
    throw unusable(file, `expected one ${acceptanceRuns.kind} of ${apiVersion}, got ${run?.kind ?? "no object"}`);
  // The server checks the rest.
  return { ...run, apiVersion, kind: acceptanceRuns.kind, metadata: run.metadata ?? {} };
}

function documentsOf(file: string): readonly unknown[] {
  try {
    return yamlDocuments(decodeYamlText(readFileSync(file)));
  } catch (error) {
    throw unusable(file, messageOf(error));
  }
}

async function runOfKind({ what, name, ...settings }: Wanted, client: Client, host: Host): Promise<AcceptanceRun> {
  const { group, kind } = await new RestMapping(client, host).find(what);
  const { version, checks, checkTimeoutSeconds } = settings;
  return {
    apiVersion,
    kind: acceptanceRuns.kind,
    metadata: { name: name ?? `accept-${randomSuffix(host.random, 5)}` },
    spec: {
      target: { apiGroup: group, kind },
      ...(version === undefined ? {} : { version }),
      ...(checks === undefined ? {} : { checks }),
      ...(checkTimeoutSeconds === undefined ? {} : { checkTimeoutSeconds }),
    },
  };
}

function unusable(file: string, why: string): SetpointError {
  return new SetpointError(usageError, `Cannot use "${file}": ${why}`);
}
