import { parseArgs } from "node:util";
import { connect, resolveConnection } from "@setpoint/client/node";
import { systemHost } from "@setpoint/host/system";
import { parseNamespace, parseNumber, refuseMore, type Command } from "../command.ts";
import { loadOperator } from "../load-operator.ts";
import { readObjects } from "../plan/given-objects.ts";
import { changedObjects, planText } from "../plan/plan-text.ts";
import { runPlan } from "../plan/run-plan.ts";
import { findReleaseOperator } from "../release/release-operators.ts";
import { withSlowStep } from "../slow-steps.ts";

/** In a cluster the manifests of the operator set it. */
const imageVariable = "SETPOINT_OPERATOR_IMAGE";
const unknownImage = "IMAGE";
const timeoutSecondsDefault = 60;
const timeoutSecondsMax = 3_600;

/** `setpoint plan`: what an operator would write, without writing it. */
export const plan: Command = {
  name: "plan",
  usage:
    "plan FILE [-f OBJECTS]... [--kubeconfig FILE] [--context NAME] [--namespace NS] [--timeout SECONDS] [--verbose]",
  summary:
    "Show what the operator that FILE exports would change in the current cluster, and why, without writing; -f adds what you are about to apply, with the steps of the change; exit code 2 when something would change.",
  async run(args, output) {
    const text = { type: "string" } as const;
    const options = {
      kubeconfig: text,
      context: text,
      namespace: text,
      filename: { type: "string", short: "f", multiple: true },
      timeout: text,
      verbose: { type: "boolean" },
    } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    refuseMore("plan an operator", positionals, 1);
    const seconds = parseNumber("timeout", values.timeout, timeoutSecondsDefault, timeoutSecondsMax);
    const given = readObjects(values.filename ?? []);
    // Operators of data services read it when they are loaded. What runs it is pretended, and no pod starts.
    process.env[imageVariable] ??= findReleaseOperator(positionals[0] ?? "")?.image ?? unknownImage;
    const operator = await loadOperator(positionals[0], "plan");
    const host = systemHost({ write: (line) => (values.verbose === true ? output.err(line) : undefined) });
    const { kubeconfig, context, namespace } = values;
    const where = {
      clock: host.clock,
      userAgent: `${operator.name}-plan`,
      ...(kubeconfig === undefined ? {} : { kubeconfig }),
      ...(context === undefined ? {} : { context }),
    };
    const resolved = resolveConnection(where);
    await using transport = connect(where);
    const planning = runPlan({
      operator,
      transport,
      host,
      limitMs: seconds * 1_000,
      given,
      namespace: namespace ?? resolved.namespace,
      ...(namespace === undefined ? {} : { namespaces: [parseNamespace("namespace", namespace)] }),
    });
    const result = await withSlowStep(output, "running the operator without writing, until it is idle", planning);
    const { server } = resolved.connection;
    output.out(planText(result, { operator: operator.name, server, colors: output.hasColors ?? false }));
    // With files the plan is about their objects, whichever others are out of reach.
    const isBlind = given.length === 0 && result.unreached.some(({ instead }) => instead === undefined);
    if (result.errors.length > 0 || !result.isComplete || isBlind) return 1;
    const isRefused = result.writes.some(({ refused }) => refused !== undefined);
    return changedObjects(result).length > 0 || isRefused || result.outside.length > 0 ? 2 : 0;
  },
};
