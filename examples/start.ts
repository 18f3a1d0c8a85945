/**
 * `npm start [-- --operator NAME] [--exit]`: an embedded cluster, an operator installed as on any cluster,
 * and what it operates: members of etcd, instances of PostgreSQL, or a Prometheus with its Alertmanagers.
 * `--exit` plays its tour.
 */
import { dirname, relative } from "node:path";
import { isSetpointError, SetpointError } from "@setpoint/apimachinery";
import {
  parseUpOptions,
  prepareFolder,
  sentenceOf,
  startCluster,
  untilSignal,
  writeText,
  type UpOptions,
} from "@setpoint/cli";
import { createClient } from "@setpoint/client";
import { systemClock } from "@setpoint/host/system";
import type { Example, Stage } from "./tours/example.ts";

const examples: Readonly<Record<string, () => Promise<Example>>> = {
  etcd: async () => (await import("./etcd/example.ts")).etcdExample,
  postgres: async () => (await import("./postgres/example.ts")).postgresExample,
  prometheus: async () => (await import("./prometheus/example.ts")).prometheusExample,
};

const startedMs = systemClock.monotonic();
const since = (): string => `${((systemClock.monotonic() - startedMs) / 1000).toFixed(1)} s`;

async function start(example: Example, exits: boolean, options: UpOptions): Promise<number> {
  const print = (line: string): void => {
    if (!options.quiet) console.log(line);
  };
  const stopped = untilSignal();
  const interrupted = stopped.then((signal): never => {
    print("\nStopping …");
    throw new SetpointError("ERR_STOPPED", `Stopped by ${signal}`);
  });
  interrupted.catch(() => {});
  if (options.directory !== undefined) prepareFolder("data directory", options.directory);
  prepareFolder("the kubeconfig's folder", dirname(options.kubeconfig));
  print("Starting the control plane and a node …");
  await using cluster = await startCluster({ ...options, say: print });
  writeText("the kubeconfig", options.kubeconfig, cluster.kubeconfig, 0o600);
  print(`  ready after ${since()}: ${cluster.url}`);
  const client = createClient(cluster.transport, cluster.host);
  const stage: Stage = { client, kubeconfig: options.kubeconfig, print, isTour: exits };
  await Promise.race([example.install(stage), interrupted]);
  print("");
  if (!options.quiet) await example.show(stage);
  if (!exits) {
    print(commandsToTry(example.commands, options.kubeconfig));
    await stopped;
    return 0;
  }
  print(`Ready after ${since()}. The tour:`);
  const holds = await Promise.race([example.tour(stage), interrupted]);
  print(holds ? `All steps hold (${since()} in all).` : "The tour failed.");
  return holds ? 0 : 1;
}

function commandsToTry(lines: readonly string[], kubeconfig: string): string {
  const shown = relative(process.cwd(), kubeconfig);
  return `Ready after ${since()}. Try:\n\n  export KUBECONFIG=${shown}\n${lines.map((line) => `  ${line}`).join("\n")}\n\n^C stops everything; the next start finds it again.`;
}

/** The arguments of this program; the rest is for `setpoint up`. */
function chosen(args: readonly string[]): {
  readonly operator: string;
  readonly exits: boolean;
  readonly rest: readonly string[];
} {
  const at = args.indexOf("--operator");
  const operator = at === -1 ? "etcd" : (args[at + 1] ?? "");
  const rest = args.filter((arg, i) => arg !== "--exit" && (at === -1 || (i !== at && i !== at + 1)));
  return { operator, exits: args.includes("--exit"), rest };
}

/**
 * What still waits for a cluster that has been stopped must not keep the process: it would wait for minutes.
 */
async function end(): Promise<never> {
  try {
    const { operator, exits, rest } = chosen(process.argv.slice(2));
    const load = examples[operator];
    if (load === undefined) {
      const known = Object.keys(examples).join(", ");
      throw new SetpointError("ERR_USAGE", `Cannot start: --operator is "${operator}", expected one of ${known}`);
    }
    const options = parseUpOptions(rest);
    process.exit(await start(await load(), exits, options));
  } catch (error) {
    console.error(sentenceOf(error));
    process.exit(isSetpointError(error, "ERR_USAGE") ? 2 : 1);
  }
}

await end();
