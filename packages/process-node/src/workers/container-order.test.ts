import type { Container, Pod } from "@setpoint/api";
import { expect, test } from "vitest";
import { planContainers } from "./container-order.ts";
import type { ContainerWorker } from "./container-worker.ts";

type State = Partial<Pick<ContainerWorker, "exitCode" | "started">> & { readonly isRunning?: boolean };

const init: Container = { name: "init" };
const second: Container = { name: "second" };
const sidecar: Container = { name: "sidecar", restartPolicy: "Always" };

interface Situation {
  readonly says: string;
  readonly inits?: readonly Container[];
  readonly policy?: "Always" | "Never" | "OnFailure";
  readonly states: Readonly<Record<string, State>>;
  readonly runs: readonly string[] | "stop sidecars";
}

const situations: readonly Situation[] = [
  { says: "without init containers the main one runs", states: {}, runs: ["main"] },
  { says: "the first init container comes first", inits: [init, second], states: {}, runs: ["init"] },
  {
    says: "an init container that is done makes room for the next",
    inits: [init, second],
    states: { init: { exitCode: 0 } },
    runs: ["second"],
  },
  { says: "a failed init container runs again", inits: [init], states: { init: { exitCode: 1 } }, runs: ["init"] },
  {
    says: "a failed init container of policy Never ends the pod",
    inits: [init],
    policy: "Never",
    states: { init: { exitCode: 1 } },
    runs: "stop sidecars",
  },
  { says: "a sidecar that has not started holds the main one back", inits: [sidecar], states: {}, runs: ["sidecar"] },
  {
    says: "a sidecar keeps running beside the main one",
    inits: [sidecar],
    states: { sidecar: { started: true } },
    runs: ["sidecar", "main"],
  },
  {
    says: "a sidecar that restarts does not hold back a main one that runs",
    inits: [sidecar],
    states: { sidecar: { exitCode: 1 }, main: { isRunning: true } },
    runs: ["sidecar", "main"],
  },
  {
    says: "sidecars stop when the main one has ended for good",
    inits: [sidecar],
    policy: "OnFailure",
    states: { sidecar: { started: true }, main: { exitCode: 0 } },
    runs: "stop sidecars",
  },
];

test.each(situations)("$says", ({ inits = [], policy = "Always", states, runs }) => {
  const spec = { restartPolicy: policy, initContainers: inits, containers: [{ name: "main" }] };
  const pod: Pod = { apiVersion: "v1", kind: "Pod", metadata: {}, spec };
  const workers = Object.entries(states).map(([name, { isRunning = false, started = false, exitCode }]) => {
    // The plan asks only whether there is a process.
    const running = isRunning ? ({} as NonNullable<ContainerWorker["running"]>) : undefined;
    return [name, { started, exitCode, running }] as const;
  });
  const plan = planContainers(pod, new Map(workers));
  expect(plan.kind === "run" ? plan.containers.map(({ name }) => name) : "stop sidecars").toEqual(runs);
});
