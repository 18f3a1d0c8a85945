import type { Output } from "../command.ts";

/** A subcommand of `setpoint store`. */
export interface StoreCommand {
  readonly takesFile: boolean;
  /** The flag that accepts a loss or a replacement, when the subcommand has one. */
  readonly yes?: "accept-loss" | "replace";
  run(call: StoreCall, output: Output): number;
}

export interface StoreCall {
  readonly directory: string;
  /** Empty when the subcommand takes none. */
  readonly file: string;
  readonly yes: boolean;
}
