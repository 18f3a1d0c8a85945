import { parseArgs } from "node:util";
import { isNotFound, SetpointError } from "@setpoint/apimachinery";
import { createClient, type Client } from "@setpoint/client";
import { httpTransport, resolveConnection } from "@setpoint/client/node";
import { systemHost } from "@setpoint/host/system";
import { acceptanceRuns, type AcceptanceRun, type RunStatus } from "../accept/acceptance-run.ts";
import { followRun } from "../accept/follow-run.ts";
import { wantedRun } from "../accept/wanted-run.ts";
import {
  type Command,
  type Output,
  parseNamespace,
  parseNumber,
  refuseMore,
  untilSignal,
  usageError,
} from "../command.ts";

const limitSecondsDefault = 3_600;
const secondsMax = 86_400;
/** As wide as the longest name of a check. */
const nameWidth = 24;

/** `setpoint accept`: runs the acceptance tests of an installed operator. */
export const accept: Command = {
  name: "accept",
  usage:
    "accept FILE|KIND [-n NS] [--name NAME] [--version VERSION] [--check NAME]... [--check-timeout SECONDS] [--timeout SECONDS] [--kubeconfig FILE] [--context NAME]",
  summary:
    "Run the acceptance tests of the operator for KIND, which is installed in the cluster, and print a line for each check: creates an AcceptanceRun, or that of FILE, and follows it. Exits with 0 when no check failed. --version: the version of the engine that all checks run on.",
  async run(args, output) {
    const text = { type: "string" } as const;
    const options = {
      namespace: { type: "string", short: "n" },
      check: { type: "string", multiple: true },
      ...{ name: text, version: text, "check-timeout": text, timeout: text, kubeconfig: text, context: text },
    } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const [what] = positionals;
    if (what === undefined)
      throw new SetpointError(usageError, "Cannot run acceptance tests: expected the name of a kind, or a file");
    refuseMore("run acceptance tests", positionals, 1);
    const { kubeconfig, context, "check-timeout": checkTimeout } = values;
    const limitSeconds = parseNumber("timeout", values.timeout, limitSecondsDefault, secondsMax);
    const checkTimeoutSeconds =
      checkTimeout === undefined ? undefined : parseNumber("check-timeout", checkTimeout, 0, secondsMax);
    const host = systemHost({ write: (line) => output.err(line) });
    const { connection, namespace: current } = resolveConnection({
      clock: host.clock,
      userAgent: "setpoint-accept",
      ...(kubeconfig === undefined ? {} : { kubeconfig }),
      ...(context === undefined ? {} : { context }),
    });
    await using transport = httpTransport(connection);
    const client = createClient(transport, host);
    const wanted = await wantedRun(
      { what, name: values.name, version: values.version, checks: values.check, checkTimeoutSeconds },
      client,
      host,
    );
    const namespace = parseNamespace("namespace", values.namespace ?? wanted.metadata.namespace ?? current);
    const run = await create(client, { ...wanted, metadata: { ...wanted.metadata, namespace } });
    const key = { name: run.metadata.name ?? "", namespace };
    output.out(`AcceptanceRun ${namespace}/${key.name} of ${run.spec?.target?.kind ?? what}\n`);
    const { signal } = interruption(output, key);
    const status = await followRun({
      ...{ client, clock: host.clock, signal, key, limitMs: limitSeconds * 1_000 },
      onEnd: (check) => output.out(`${lineOf(check)}\n`),
      onNote: (sentence) => output.err(`${sentence}\n`),
    });
    output.out(`${summaryOf(status)}\n`);
    return status.phase === "Passed" ? 0 : 1;
  },
};

async function create(client: Client, run: AcceptanceRun): Promise<AcceptanceRun> {
  try {
    return await client.create(acceptanceRuns, run);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw new SetpointError(
      "ERR_ACCEPTANCE_MISSING",
      "Cannot run acceptance tests: the cluster has no kind AcceptanceRun; install an operator that ships acceptance tests",
      { cause: error },
    );
  }
}

/** The run is the operator's: who no longer follows it does not end it. */
function interruption(
  output: Output,
  { name, namespace }: { readonly name: string; readonly namespace: string },
): AbortController {
  const interrupted = new AbortController();
  void untilSignal().then(() => {
    output.err(
      `The run goes on: kubectl get acceptancerun ${name} -n ${namespace} shows it, and deleting it ends it.\n`,
    );
    interrupted.abort();
  });
  return interrupted;
}

function lineOf({ name, state, seconds = 0, message }: RunStatus["checks"][number]): string {
  const why = message === undefined ? "" : `  ${message}`;
  return `${name.padEnd(nameWidth)}${state.toLowerCase().padEnd(9)}${String(seconds).padStart(4)} s${why}`;
}

function summaryOf({ phase, passed, failed, skipped, checks, message }: RunStatus): string {
  const counts = `${phase}: ${passed} passed, ${failed} failed, ${skipped} skipped`;
  // A run that was refused has no check that says why.
  return checks.length === 0 && message !== undefined ? `${counts}; ${message}` : counts;
}
