import { parseArgs } from "node:util";
import { connect } from "@setpoint/client/node";
import { createClient } from "@setpoint/client";
import { systemHost } from "@setpoint/host/system";
import { parseNamespace, refuseMore, type Command } from "../command.ts";
import { loadOperator } from "../load-operator.ts";
import { installationOf } from "../release/release-operators.ts";
import { nothingThere, planUninstall, uninstallOperator } from "../uninstall/uninstall-operator.ts";
import { withSlowStep } from "../slow-steps.ts";

/** `setpoint uninstall`: takes an operator away without leaving objects that can never be deleted. */
export const uninstall: Command = {
  name: "uninstall",
  usage: "uninstall FILE [--namespace NS] [--kinds] [--yes] [--kubeconfig FILE] [--context NAME]",
  summary:
    "Show what would go with the operator of FILE, and with --yes remove it: its Deployment, the finalizers that only it would take away, its rights; with --kinds its CRDs and all their objects.",
  async run(args, output) {
    const text = { type: "string" } as const;
    const yes = { type: "boolean" } as const;
    const options = { namespace: text, kubeconfig: text, context: text, kinds: yes, yes } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    refuseMore("uninstall an operator", positionals, 1);
    const operator = await loadOperator(positionals[0], "uninstall");
    const host = systemHost({ write: (line) => output.err(line) });
    const { kubeconfig, context, kinds = false } = values;
    await using transport = connect({
      clock: host.clock,
      userAgent: "setpoint-uninstall",
      ...(kubeconfig === undefined ? {} : { kubeconfig }),
      ...(context === undefined ? {} : { context }),
    });
    const client = createClient(transport, host);
    const namespace = parseNamespace(
      "namespace",
      values.namespace ?? installationOf(positionals[0] ?? "", operator).namespace,
    );
    const what = { operator, client, clock: host.clock, namespace, withKinds: kinds };
    const lines =
      values.yes === true
        ? uninstallOperator(what)
        : await withSlowStep(output, "looking for what is there", planUninstall(what));
    let isAbsent = true;
    for await (const line of lines) {
      isAbsent = false;
      output.out(`${line}\n`);
    }
    if (isAbsent) output.out(`${nothingThere(what)}\n`);
    else if (values.yes !== true) output.out("Nothing was done: --yes does it.\n");
    return 0;
  },
};
