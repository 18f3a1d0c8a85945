/** What `npm start` shows: an operator on an embedded cluster, and a tour that proves what it promises. */
import type { Client } from "@setpoint/client";

export type Print = (line: string) => void;

/** The running cluster, as an example sees it. */
export interface Stage {
  readonly client: Client;
  /** The path of its file: for what the client does not do, such as commands in pods. */
  readonly kubeconfig: string;
  readonly print: Print;
  /** Whether the tour follows, which begins with new objects. */
  readonly isTour: boolean;
}

export interface Example {
  /** Installs the operator and its example; resolves when clients can use it, and rejects with why not. */
  install(stage: Stage): Promise<void>;
  /** Prints the members as a table. */
  show(stage: Stage): Promise<void>;
  /** Commands for a reader to try, a line each. */
  readonly commands: readonly string[];
  /** Whether all steps held; each has been printed. */
  tour(stage: Stage): Promise<boolean>;
}
