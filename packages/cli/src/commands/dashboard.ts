import { SetpointError } from "@setpoint/apimachinery";
import { usageError, type Command } from "../command.ts";
import { grafanaDashboard } from "../dashboard/grafana-dashboard.ts";
import { loadOperator } from "../load-operator.ts";

/** `setpoint dashboard`: what Grafana shows of an operator. */
export const dashboard: Command = {
  name: "dashboard",
  usage: "dashboard FILE",
  summary: "Print a Grafana dashboard of the operator that FILE exports as default, to be imported as JSON.",
  async run(args, output) {
    const [file, ...more] = args;
    if (more.length > 0)
      throw new SetpointError(usageError, `Cannot print a dashboard: unexpected argument "${more[0]}"`);
    const operator = await loadOperator(file, "print the dashboard of");
    output.out(`${JSON.stringify(grafanaDashboard(operator.name), null, 2)}\n`);
    return 0;
  },
};
