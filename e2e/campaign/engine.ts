/** What an engine brings to the campaign: its clusters, its clients and its own disasters. */
import type { Client } from "@setpoint/client";
import type { NetworkNamespace } from "@setpoint/process-node";
import type { Results, ResultWords } from "./results.ts";
import type { VolumesDisk } from "./volumes-disk.ts";

/** Where a cluster lives. */
export interface Place {
  readonly client: Client;
  /** The path of the kubeconfig. */
  readonly kubeconfig: string;
  readonly network: NetworkNamespace;
  readonly disk: VolumesDisk;
  /** Only disasters with this text in their names; undefined: all. */
  readonly only: string | undefined;
}

/** One cluster from its creation to its deletion. */
export interface Life extends Place {
  readonly name: string;
  readonly namespace: string;
  readonly number: number;
  readonly results: Results;
  readonly pick: (this: void, below: number) => number;
  readonly isDone: () => boolean;
  /** Of the first cluster, whose clients must find known faults. */
  readonly isFirst: boolean;
}

export interface Engine {
  readonly name: string;
  /** The path of what installs its operator. */
  readonly manifests: string;
  readonly words: ResultWords;
  /** Creates a cluster, strikes it until it is done or has been struck enough, and deletes it. */
  live(life: Life): Promise<void>;
  /** Removes what a life that failed has left. */
  clear(life: Life): Promise<void>;
  /** The same measure without an operator. */
  readonly strikePlain?: (client: Client, results: Results, wanted: number) => Promise<void>;
}
