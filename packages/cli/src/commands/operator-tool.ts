/** Runs the command of an operator that comes with Setpoint. */
import { pathToFileURL } from "node:url";
import { messageOf, SetpointError } from "@setpoint/apimachinery";
import { type Output, usageError } from "../command.ts";
import { findReleaseOperator } from "../release/release-operators.ts";

type Tool = (args: readonly string[], output: Output) => Promise<number>;

/** Resolves to the exit code of the tool of the operator with this name. */
export async function runOperatorTool(name: string, args: readonly string[], output: Output): Promise<number> {
  const path = findReleaseOperator(name)?.tool;
  if (path === undefined)
    throw new SetpointError(
      "ERR_OPERATOR_NOT_LOADED",
      "Cannot run the tool: its operator is missing; install Setpoint again",
    );
  // The operator's own package has this type.
  const { default: tool } = (await import(pathToFileURL(path).href)) as { readonly default: Tool };
  try {
    return await tool(args, output);
  } catch (cause) {
    throw new SetpointError(usageError, messageOf(cause), { cause });
  }
}
