import { parseArgs } from "node:util";
import { runOperatorProcess } from "setpoint/process";
import { parseNamespace, refuseMore, type Command } from "../command.ts";
import { loadOperator } from "../load-operator.ts";
import { leaseTimes, parseRunFlags, runFlags, runFlagsUsage } from "../run-flags.ts";

/** `setpoint run`: an operator's module against the current cluster. */
export const run: Command = {
  name: "run",
  usage: `run FILE [--kubeconfig FILE] [--context NAME] [--namespace NS]... [--install] [--require-rights] [--lease-namespace NS] ${runFlagsUsage}`,
  summary:
    "Run the operator that FILE exports as default; --namespace, which may be repeated, limits what it looks at; --install applies its CRDs first (default outside a pod); --require-rights refuses to start without a declared right; --lease-namespace lets several run as replicas.",
  async run(args) {
    const text = { type: "string" } as const;
    const yes = { type: "boolean" } as const;
    const where = { kubeconfig: text, context: text, "lease-namespace": text } as const;
    const options = { ...where, ...runFlags, install: yes, "require-rights": yes } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    refuseMore("run an operator", positionals, 1);
    const { kubeconfig, context, namespace: namespaces, install, "lease-namespace": leaseNamespace } = values;
    const { leaseDurationSeconds, ...flags } = parseRunFlags(values);
    return runOperatorProcess(await loadOperator(positionals[0], "run"), {
      ...flags,
      ...leaseTimes(leaseDurationSeconds),
      ...(kubeconfig === undefined ? {} : { kubeconfig }),
      ...(context === undefined ? {} : { context }),
      ...(namespaces === undefined
        ? {}
        : { namespaces: [...new Set(namespaces)].map((each) => parseNamespace("namespace", each)) }),
      ...(leaseNamespace === undefined ? {} : { leaseNamespace: parseNamespace("lease-namespace", leaseNamespace) }),
      ...(install === undefined ? {} : { install }),
      requireRights: values["require-rights"] ?? false,
    });
  },
};
