/** Where the tool reads a probe: in a cluster, where it can ask for a run, or in a file. */
import { readFileSync } from "node:fs";
import { isNotFound } from "setpoint";
import { type Client, connect, createClient } from "setpoint/client";
import { type Host, systemHost } from "setpoint/process";
import { parse } from "yaml";
import { ComplianceProbe, runAnnotation } from "../kind/compliance-probe.ts";

const pollMs = 1_000;

export interface ProbePlace {
  readonly name: string;
  readonly namespace: string;
}

/** YAML or JSON, as `kubectl get -o yaml` prints it. */
export function readProbeFile(path: string): ComplianceProbe {
  const object = parse(fileText(path)) as ComplianceProbe | null;
  if (object?.kind !== ComplianceProbe.kind)
    throw new Error(`Cannot use "${path}": expected one ${ComplianceProbe.kind}, as kubectl get -o yaml prints it`);
  return object;
}

function fileText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new Error(`Cannot read "${path}": expected a file that exists and can be read`, { cause });
  }
}

/** In the cluster that kubectl would talk to. */
export class ClusterProbes {
  readonly #host: Host = systemHost();
  readonly #client: Client = createClient(connect({ clock: this.#host.clock }), this.#host);

  async read({ name, namespace }: ProbePlace): Promise<ComplianceProbe> {
    try {
      return await this.#client.get(ComplianceProbe, { name, namespace });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      const message = `Cannot read ComplianceProbe "${namespace}/${name}": it does not exist; create it, or use --namespace`;
      throw new Error(message, { cause: error });
    }
  }

  /** Asks for a run and resolves when its results are there. */
  async run(place: ProbePlace, timeoutMs: number): Promise<ComplianceProbe> {
    const { clock, random } = this.#host;
    const requested = random.uuid();
    const before = await this.read(place);
    await this.#client.patch(ComplianceProbe, place, { metadata: { annotations: { [runAnnotation]: requested } } });
    const endMs = clock.now() + timeoutMs;
    for (let probe = before; clock.now() < endMs; probe = await this.read(place)) {
      if (probe.status?.lastRun?.requested === requested) return probe;
      await new Promise<void>((resolve) => clock.setTimer(resolve, pollMs));
    }
    const message = `Cannot finish a run of "${place.namespace}/${place.name}" within ${timeoutMs / 1_000} s: is the operator there? "setpoint install compliance-probe" installs it`;
    throw new Error(message);
  }
}
