import { SetpointError } from "@setpoint/apimachinery";
import { type Command, usageError } from "../command.ts";
import { runOperatorTool } from "./operator-tool.ts";

/** `setpoint prometheus`: the tool of the operator for Prometheus, which comes with the operator. */
export const prometheus: Command = {
  name: "prometheus",
  usage:
    "prometheus render DIR [--version VERSION] [--alertmanager-version VERSION] [--namespace NAME] [--no-endpoint-slices] [--topology-sharding] [--retain-shards] [--pod-topology-labels]",
  summary:
    "Print the configuration of each Prometheus and Alertmanager among the objects of the YAML files in DIR, as the operator would write it, without a cluster. What is left out goes to standard error.",
  async run(args, output) {
    if (args[0] !== "render" || args[1] === undefined)
      throw new SetpointError(usageError, "Cannot run the tool: expected render DIR");
    return await runOperatorTool("prometheus", args, output);
  },
};
