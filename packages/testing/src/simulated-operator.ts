/** An operator's process in a world: it can crash at any write and comes back, with nothing but what is in the cluster. */
import type { Transport } from "@setpoint/apimachinery";
import type { Host, Timer } from "@setpoint/host";
import type { Manager } from "@setpoint/runtime";
import { type Operator, runOperator } from "setpoint";
import { MortalClock } from "./mortal-clock.ts";
import type { Fault, Participant, ProcessLink } from "./participant.ts";

/** What an operator's process is given besides the API server. */
export interface OperatorProcess {
  /**
   * Reaches something that is not the API server (an operand's own API): traced, counted with the writes, struck by the same
   * faults, and cut off when the process dies.
   */
  call<T>(what: string, kind: "look" | "write", send: () => Promise<T>): Promise<T>;
}

/** An operator, or what makes one anew for each of its processes. */
export type OperatorSource = Operator | ((process: OperatorProcess) => Operator);

export interface SimulatedOperatorOptions {
  readonly source: OperatorSource;
  readonly host: Host;
  readonly participant: Participant;
  readonly transport: Transport;
  readonly leaseNamespace?: string;
}

/** How long a node takes to start a process again. */
const restartMsMin = 500;
const restartMsMax = 5_000;

export class SimulatedOperator {
  readonly #options: SimulatedOperatorOptions;
  #life: { readonly link: ProcessLink; readonly clock: MortalClock; readonly manager: Manager } | undefined;
  #restart: Timer | undefined;

  constructor(options: SimulatedOperatorOptions) {
    this.#options = options;
  }

  get writeCount(): number {
    return this.#options.participant.writeCount;
  }

  /** Whether it runs and no key is waiting to run or running. */
  get isQuiet(): boolean {
    return this.#life?.manager.isQuiet() ?? false;
  }

  /** Resolves when its caches are complete. */
  get ready(): Promise<void> {
    return this.#life?.manager.ready ?? Promise.resolve();
  }

  strikeAt(write: number, fault: Fault): void {
    this.#options.participant.faults.set(write, fault);
  }

  start(): void {
    const { source, host, participant, transport, leaseNamespace } = this.#options;
    this.#restart?.cancel();
    const clock = new MortalClock(host.clock);
    const link = participant.process(() => this.#crashed());
    const operator = typeof source === "function" ? source(link) : source;
    const manager = runOperator(operator, {
      transport: link.transport(transport),
      host: { ...host, clock },
      ...(leaseNamespace === undefined ? {} : { leaseNamespace }),
    });
    this.#life = { link, clock, manager };
  }

  /** As `kill -9`; it stays away until it is started. */
  kill(): void {
    this.#life?.link.end();
    this.#life?.clock.stop();
    this.#life = undefined;
    this.#restart?.cancel();
  }

  #crashed(): void {
    this.kill();
    const { clock, random } = this.#options.host;
    this.#restart = clock.setTimer(() => this.start(), restartMsMin + random.int(restartMsMax - restartMsMin));
  }
}
