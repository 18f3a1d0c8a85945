/** The command `setpoint chaos`: asks for an act and reports on it; converts other systems' manifests. */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { isNotFound, parseDuration } from "setpoint";
import { type Client, connect, createClient } from "setpoint/client";
import { kubernetesYaml } from "setpoint/install";
import { type Host, systemHost } from "setpoint/process";
import { parseAllDocuments, stringify } from "yaml";
import type { Converted } from "./convert/converted.ts";
import { fromKubeMonkey } from "./convert/kube-monkey.ts";
import { fromPodChaos } from "./convert/pod-chaos.ts";
import { type ActRecord, isOpen } from "./kind/act-record.ts";
import { chaosNames } from "./kind/chaos-names.ts";
import { HatefulSet } from "./kind/hateful-set.ts";

const pollMs = 1_000;

/** Where a command writes to. */
export interface ToolOutput {
  out(text: string): void;
  err(text: string): void;
}

/** Resolves to the exit code: of `strike`, 0 when the target has recovered. */
export default async function tool(args: readonly string[], output: ToolOutput): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { namespace: { type: "string", default: "default" }, timeout: { type: "string", default: "10m" } },
    allowPositionals: true,
  });
  const [verb, ...rest] = positionals;
  if (verb === "convert" && rest.length > 0) return convert(rest, output);
  const [name] = rest;
  if (verb !== "strike" || name === undefined || rest.length > 1)
    throw new Error("Cannot run the command: expected strike NAME, or convert FILE…");
  const host = systemHost();
  const client = createClient(connect({ clock: host.clock }), host);
  return strike({ client, host, output }, { name, namespace: values.namespace }, parseDuration(values.timeout));
}

interface Desk {
  readonly client: Client;
  readonly host: Pick<Host, "clock" | "random">;
  readonly output: ToolOutput;
}

/** Sets the annotation, and waits until its act has ended. */
export async function strike(
  { client, host, output }: Desk,
  place: { readonly name: string; readonly namespace: string },
  timeoutMs: number,
): Promise<number> {
  const { clock, random } = host;
  const request = random.uuid();
  const change = { metadata: { annotations: { [chaosNames.strike]: request } } };
  await client.patch(HatefulSet, place, change).catch((error: unknown) => refuseMissing(error, place));
  const endMs = clock.now() + timeoutMs;
  while (clock.now() < endMs) {
    const { status } = await client.get(HatefulSet, place);
    const act = status?.acts?.find(({ cause }) => cause.endsWith(request));
    if (act !== undefined && !isOpen(act)) return report(act, output);
    if (act === undefined && status?.lastRequest === request) {
      output.err(`Nobody was struck: ${status.declined}\n`);
      return 1;
    }
    await new Promise<void>((resolve) => clock.setTimer(resolve, pollMs));
  }
  const message = `The act has not ended within ${timeoutMs / 1_000} s: "kubectl describe hatefulset ${place.name} -n ${place.namespace}" says what it waits for`;
  output.err(`${message}\n`);
  return 1;
}

function refuseMissing(
  error: unknown,
  { name, namespace }: { readonly name: string; readonly namespace: string },
): never {
  if (!isNotFound(error)) throw error;
  const message = `Cannot strike by HatefulSet "${namespace}/${name}": it does not exist; create it, or use --namespace`;
  throw new Error(message, { cause: error });
}

function report(act: ActRecord, output: ToolOutput): number {
  const { victim, role, target, phase, recoveredAfterSeconds, message, said = [] } = act;
  const who = role === undefined ? victim.name : `${victim.name} (${role})`;
  const end = recoveredAfterSeconds === undefined ? phase : `${phase} after ${recoveredAfterSeconds} s`;
  output.out(
    `${victim.kind} ${who} of ${target.kind} ${target.name}: ${end}${message === undefined ? "" : `: ${message}`}\n`,
  );
  for (const { at, text } of said) output.out(`  ${at} ${text}\n`);
  return phase === "Recovered" || phase === "Pretended" ? 0 : 1;
}

/** HatefulSets go to `out`, what differs goes to `err`. */
function convert(paths: readonly string[], output: ToolOutput): number {
  const converted = paths.flatMap((path) => readObjects(path).flatMap(convertObject));
  for (const { set, differences } of converted) {
    output.out(`---\n${stringify(set, { version: "1.1", lineWidth: 0 })}`);
    for (const difference of differences) output.err(`${set.metadata.name ?? ""}: ${difference}\n`);
  }
  if (converted.length === 0)
    output.err("Nothing to convert: no workload with labels of kube-monkey, and no PodChaos\n");
  return converted.length === 0 ? 1 : 0;
}

export function convertObject(object: unknown): readonly Converted[] {
  const workload = fromKubeMonkey(object);
  return workload === undefined ? fromPodChaos(object) : [workload];
}

function readObjects(path: string): readonly unknown[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw new Error(`Cannot read "${path}": expected a file that exists and can be read`, { cause });
  }
  return parseAllDocuments(text, kubernetesYaml).map((document): unknown => document.toJS());
}
