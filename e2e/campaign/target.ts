/** A cluster under fire as the campaign sees it, whatever its engine. */
import type { NetworkNamespace } from "@setpoint/process-node";
import type { VolumesDisk } from "./volumes-disk.ts";

export interface Target {
  /** The member that takes writes now, by the engine itself. Waits while there is none. */
  leader(): Promise<string>;
  /** The members that could take its place. */
  followers(): Promise<readonly string[]>;
  /** Its processes on this machine; empty when it does not run. */
  processesOf(member: string): Promise<readonly number[]>;
  /** In the network of the pods. */
  addressOf(member: string): Promise<string>;
  /** With whom the member speaks; undefined: everybody, also this machine. */
  peersOf(member: string): Promise<readonly string[] | undefined>;
  /** The operator is done, and every member answers. */
  isSettled(): Promise<boolean>;
  until(what: string, holds: () => Promise<boolean>, withinMs: number): Promise<unknown>;
}

/** A target, and what strikes it. */
export interface Arena<T extends Target = Target> {
  readonly target: T;
  readonly network: NetworkNamespace;
  readonly disk: VolumesDisk;
  /** From 0 up to, and not including, `below`. */
  readonly pick: (this: void, below: number) => number;
}

export interface Disaster<T extends Target = Target> {
  readonly name: string;
  /** How often it is picked, relative to the others. */
  readonly weight: number;
  /** What it waits for; no part of what is measured. */
  readonly prepare?: () => Promise<void>;
  /** Strikes, and takes back what does not end by itself. */
  strike(arena: Arena<T>): Promise<void>;
}
