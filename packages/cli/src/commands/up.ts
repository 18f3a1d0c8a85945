import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parseArgs } from "node:util";
import { decodeYamlText, isSetpointError, messageOf, SetpointError } from "@setpoint/apimachinery";
import { type FaultPlan, parseFaultPlan } from "@setpoint/controlplane";
import type { ImageSource } from "@setpoint/process-node";
import { parse } from "yaml";
import { type Cluster, startCluster } from "../cluster/cluster.ts";
import { prepareFolder } from "../cluster/prepare-folder.ts";
import { hasStore, serveReads } from "../cluster/serve-reads.ts";
import { parseNumber, untilSignal, usageError, type Command } from "../command.ts";
import { catalogueFile, readImageCatalogue } from "../image/catalogue-file.ts";
import { knownImages } from "../release/known-images.ts";
import { writeText } from "../write-text.ts";

const nodesMax = 10;

/** What `setpoint up` was asked for. */
export interface UpOptions {
  readonly directory: string | undefined;
  readonly port: number;
  readonly kubeconfig: string;
  readonly nodes: number;
  readonly quiet: boolean;
  /** Whether pods may have rights over the host. */
  readonly allowHost: boolean;
  readonly faults: FaultPlan | undefined;
  /** Added by the image catalogue of the user, by name. */
  readonly localImages: Readonly<Record<string, ImageSource>>;
}

/** Flags of `setpoint up`; throws `ERR_USAGE`. */
export function parseUpOptions(args: readonly string[]): UpOptions {
  const values = parseFlags(args);
  if (values["in-memory"] && values["data-dir"] !== undefined) {
    throw new SetpointError(usageError, "Cannot use --in-memory with --data-dir: use one of them");
  }
  if (values["allow-host"] === true && process.getuid?.() !== 0) {
    throw new SetpointError(
      usageError,
      "Cannot use --allow-host as an ordinary user: only root has rights over this host to give; run the command as root",
    );
  }
  const directory = values["in-memory"] ? undefined : resolve(values["data-dir"] ?? ".setpoint");
  return {
    directory,
    port: parseNumber("port", values.port, 0, 65_535),
    kubeconfig: resolve(values.kubeconfig ?? `${directory ?? ".setpoint"}/kubeconfig`),
    nodes: parseNumber("nodes", values.nodes, 1, nodesMax),
    quiet: values.quiet ?? false,
    allowHost: values["allow-host"] ?? false,
    faults: values.faults === undefined ? undefined : readFaults(values.faults),
    localImages: readImageCatalogue(catalogueFile(values.images, directory)),
  };
}

/** YAML or JSON; throws `ERR_FAULTS_INVALID` with the path of the field that is wrong. */
function readFaults(file: string): FaultPlan {
  if (!existsSync(file))
    throw new SetpointError("ERR_FAULTS_INVALID", `Cannot read the faults in "${file}": no such file`);
  let value: unknown;
  try {
    value = parse(decodeYamlText(readFileSync(file)));
  } catch (cause) {
    // What follows the first line of yaml's messages is an excerpt.
    const [why = ""] = messageOf(cause).split("\n");
    throw new SetpointError("ERR_FAULTS_INVALID", `Cannot read the faults in "${file}": ${why.replace(/:$/, "")}`);
  }
  return parseFaultPlan(value);
}

interface UpFlags {
  readonly "data-dir"?: string;
  readonly "in-memory"?: boolean;
  readonly port?: string;
  readonly kubeconfig?: string;
  readonly nodes?: string;
  readonly quiet?: boolean;
  readonly faults?: string;
  readonly images?: string;
  readonly "allow-host"?: boolean;
}

function parseFlags(args: readonly string[]): UpFlags {
  const text = { type: "string" } as const;
  const yes = { type: "boolean" } as const;
  try {
    const options = {
      "data-dir": text,
      "in-memory": yes,
      port: text,
      kubeconfig: text,
      nodes: text,
      quiet: yes,
      faults: text,
      images: text,
      "allow-host": yes,
    };
    return parseArgs({ args: [...args], options, strict: true }).values;
  } catch (cause) {
    throw new SetpointError(usageError, `Cannot start: ${messageOf(cause)}`);
  }
}

/** `setpoint up`: a cluster in the foreground. */
export const up: Command = {
  name: "up",
  usage:
    "up [--data-dir DIR | --in-memory] [--port N] [--kubeconfig FILE] [--nodes N] [--faults FILE] [--images FILE] [--allow-host] [--quiet]",
  summary: "Start a Kubernetes control plane and its nodes; serves until ^C.",
  async run(args) {
    const options = parseUpOptions(args);
    const stopped = untilSignal();
    const say = options.quiet ? (): void => {} : (line: string): void => void process.stderr.write(`${line}\n`);
    if (options.directory !== undefined) prepareFolder("data directory", options.directory);
    prepareFolder("the kubeconfig's folder", dirname(options.kubeconfig));
    const started = await startWithRoom(options, say, stopped);
    if (started === undefined) return 0;
    await using cluster = started;
    writeText("the kubeconfig", options.kubeconfig, cluster.kubeconfig, 0o600);
    process.stdout.write(
      `Ready: ${cluster.url}, kubeconfig ${options.kubeconfig}, ${options.nodes} node${options.nodes === 1 ? "" : "s"}\n`,
    );
    if (options.allowHost)
      say("Pods may take over this host: privileged, hostPath, hostNetwork and the like are allowed");
    say(`In another terminal: export KUBECONFIG=${options.kubeconfig}`);
    say(`The nodes can run ${knownImages(options.localImages).length} images; "setpoint image list" shows them`);
    const signal = await stopped;
    say(`${signal}: stopping`);
    return 0;
  },
};

type Say = (line: string) => void;

/** Serves reads until the disk has room for a start; undefined when it was stopped before. */
async function startWithRoom(
  options: UpOptions,
  say: Say,
  stopped: Promise<NodeJS.Signals>,
): Promise<Cluster | undefined> {
  let { port } = options;
  for (;;) {
    try {
      return await startCluster({ ...options, port, say });
    } catch (error) {
      const { directory } = options;
      const canRead = isSetpointError(error, "ERR_DISK_FULL") && directory !== undefined && hasStore(directory);
      if (!canRead) throw error;
      say(error.message);
      const next = await readUntilRoom({ ...options, directory, port }, say, stopped);
      if (next === undefined) return undefined;
      ({ port } = next);
    }
  }
}

/** Serves reads until there is room; the port that it had, or undefined when it was stopped. */
async function readUntilRoom(
  { directory, kubeconfig, port }: UpOptions & { readonly directory: string },
  say: Say,
  stopped: Promise<NodeJS.Signals>,
): Promise<{ readonly port: number } | undefined> {
  await using server = await serveReads(directory, port);
  writeText("the kubeconfig", kubeconfig, server.kubeconfig, 0o600);
  process.stdout.write(`Ready: ${server.url}, kubeconfig ${kubeconfig}, reads only\n`);
  say("Writes are refused, and no controller and no node runs, until there is room; then the start goes on");
  const over = new AbortController();
  const room = server.roomFor(over.signal).then(
    () => undefined,
    () => undefined,
  );
  const signal = await Promise.race([stopped, room]);
  over.abort();
  say(signal === undefined ? "There is room again: starting" : `${signal}: stopping`);
  return signal === undefined ? { port: Number(new URL(server.url).port) } : undefined;
}
