import { SetpointError } from "@setpoint/apimachinery";
import { type Command, usageError } from "../command.ts";
import { runOperatorTool } from "./operator-tool.ts";

/** `setpoint postgres`: the tool of the operator for PostgreSQL, which comes with the operator. */
export const postgres: Command = {
  name: "postgres",
  usage: "postgres adopt FILE… [--namespace NAME] [--import]",
  summary:
    "Write a PostgresCluster and the objects beside it for the manifests of CloudNativePG in the files, or of standard input with -. Each field that is not carried over as it is goes to standard error, with the reason and what to do.",
  async run(args, output) {
    if (args[0] !== "adopt" || args[1] === undefined)
      throw new SetpointError(usageError, "Cannot run the tool: expected adopt FILE…");
    return await runOperatorTool("postgres", args, output);
  },
};
