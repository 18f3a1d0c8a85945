import { SetpointError } from "@setpoint/apimachinery";
import { type Command, usageError } from "../command.ts";
import { runOperatorTool } from "./operator-tool.ts";

/** `setpoint compliance`: the tool of the operator for ComplianceProbe, which comes with the operator. */
export const compliance: Command = {
  name: "compliance",
  usage:
    "compliance check|accept NAME|--file FILE [--namespace NAME] [--run] [--timeout DURATION] [--baseline FILE] [--sarif FILE] [--html FILE] [--until TIME]",
  summary:
    "check prints what a ComplianceProbe was allowed to do and must not be; the code is 1 when there is such an act, and 2 when no run has tried them. --run asks for a run first. accept prints a ConfigMap that accepts them.",
  async run(args, output) {
    if (args[0] !== "check" && args[0] !== "accept")
      throw new SetpointError(usageError, "Cannot run the tool: expected check NAME or accept NAME");
    return await runOperatorTool("compliance-probe", args, output);
  },
};
