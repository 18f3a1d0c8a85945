import { SetpointError } from "@setpoint/apimachinery";
import { type Command, usageError } from "../command.ts";
import { runOperatorTool } from "./operator-tool.ts";

/** `setpoint chaos`: the tool of the operator for HatefulSets, which comes with the operator. */
export const chaos: Command = {
  name: "chaos",
  usage: "chaos strike NAME [--namespace NAME] [--timeout DURATION] | chaos convert FILE…",
  summary:
    "strike asks a HatefulSet for one act now and reports how its target recovered; the code is 1 when it has not. convert writes HatefulSets for workloads with labels of kube-monkey, and for PodChaos of chaos-mesh; what differs goes to standard error.",
  async run(args, output) {
    if ((args[0] !== "strike" && args[0] !== "convert") || args[1] === undefined)
      throw new SetpointError(usageError, "Cannot run the tool: expected strike NAME or convert FILE…");
    return await runOperatorTool("hateful-set", args, output);
  },
};
