import { pathToFileURL } from "node:url";
import { messageOf, SetpointError } from "@setpoint/apimachinery";
import { type Command, type Output, usageError } from "../command.ts";
import { findReleaseOperator } from "../release/release-operators.ts";

type Tool = (args: readonly string[], output: Output) => Promise<number>;

/** `setpoint prometheus`: the tool of the operator for Prometheus, which comes with the operator. */
export const prometheus: Command = {
  name: "prometheus",
  usage:
    "prometheus render DIR [--version VERSION] [--namespace NAME] [--no-endpoint-slices] [--topology-sharding] [--retain-shards] [--pod-topology-labels]",
  summary:
    "Print the configuration of each Prometheus among the objects of the YAML files in DIR, as the operator would write it, without a cluster. What is left out goes to standard error.",
  async run(args, output) {
    if (args[0] !== "render" || args[1] === undefined)
      throw new SetpointError(usageError, "Cannot run the tool: expected render DIR");
    const path = findReleaseOperator("prometheus")?.tool;
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
  },
};
