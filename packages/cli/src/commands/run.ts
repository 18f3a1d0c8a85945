import { parseArgs } from "node:util";
import { runOperatorProcess } from "setpoint/process";
import { refuseMore, type Command } from "../command.ts";
import { loadOperator } from "../load-operator.ts";

/** `setpoint run`: an operator's module against the current cluster. */
export const run: Command = {
  name: "run",
  usage: "run FILE [--kubeconfig FILE] [--context NAME] [--namespace NS] [--install] [--require-rights]",
  summary:
    "Run the operator that FILE exports as default; --install applies its CRDs first (default outside a pod); --require-rights refuses to start without a declared right.",
  async run(args) {
    const text = { type: "string" } as const;
    const yes = { type: "boolean" } as const;
    const names = { kubeconfig: text, context: text, namespace: text };
    const options = { ...names, install: yes, "require-rights": yes } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    refuseMore("run an operator", positionals, 1);
    const { "require-rights": requireRights = false, ...others } = values;
    return runOperatorProcess(await loadOperator(positionals[0], "run"), { ...others, requireRights });
  },
};
