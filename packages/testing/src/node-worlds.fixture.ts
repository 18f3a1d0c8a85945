/** What is explored of the controllers that watch over nodes. Only tests import this. */
import { Node, Pod } from "@setpoint/api";
import { nodeLifecycle, taintEvictions } from "@setpoint/controllers";
import { deletionOf } from "./deletion-request.ts";
import {
  allOracles,
  happens,
  type LawOptions,
  type Oracle,
  patch,
  type Setting,
  story,
  type StoryInit,
  type World,
} from "./index.ts";
import { defineOperator } from "setpoint";

const outageMs = 120_000;
const ownTaint = /^node\.kubernetes\.io\//;
const broken = { key: "gpu", value: "broken", effect: "NoExecute" as const };

/** A pod without an owner, so that it is gone once it is evicted. */
function pod(name: string, nodeName: string, tolerations: readonly object[] = []): Pod {
  const spec = { nodeName, containers: [{ name: "c", image: "c:1" }], tolerations };
  return Pod({ name, namespace: "default", spec: spec as Pod["spec"] });
}

function unreachable(tolerationSeconds: number): object {
  return { key: "node.kubernetes.io/unreachable", operator: "Exists", effect: "NoExecute", tolerationSeconds };
}

// A fault may lose a node for two minutes, and it is tainted for 70 s of them.
const neighbour = pod("neighbour", "node-1", [unreachable(100)]);

export const worlds: readonly StoryInit[] = [
  story(
    "a node is lost, and the pod that tolerates half a minute of that goes",
    pod("guest", "node-0", [unreachable(30)]),
    // Admission has it tolerate five minutes.
    pod("resident", "node-0"),
    neighbour,
    happens("node-0 is lost until the guest goes", (world) => lose(world, ["node-0"], () => untilGuestGoes(world))),
    happens("node-0 is as it was", (world) => untilWell(world)),
  ),
  story(
    "all nodes are lost for two minutes, and no pod goes",
    pod("resident", "node-0"),
    neighbour,
    happens("both nodes are lost for two minutes", (world) =>
      lose(world, ["node-0", "node-1"], () => world.run(outageMs)),
    ),
    happens("both nodes are as they were", (world) => untilWell(world)),
  ),
  story(
    "a user taints a node for longer than one of its pods tolerates",
    pod("guest", "node-0", [{ ...broken, tolerationSeconds: 60 }]),
    pod("resident", "node-0", [broken]),
    neighbour,
    patch(Node, { name: "node-0" }, { spec: { taints: [broken] } }),
    happens("the guest goes", (world) => untilGuestGoes(world)),
    patch(Node, { name: "node-0" }, { spec: { taints: null } }),
  ),
];

async function untilGuestGoes(world: World): Promise<void> {
  const isGoing = async () =>
    (await world.list(Pod)).every(
      ({ metadata: { name, deletionTimestamp } }) => name !== "guest" || deletionTimestamp !== undefined,
    );
  await world.until("the guest goes", isGoing, { within: 600_000 });
}

/** A fault may have lost one of them before, or be about to bring it back. */
async function lose(world: World, names: readonly string[], meanwhile: () => Promise<void>): Promise<void> {
  const lost = names.filter((name) => happened(() => world.failNode(name)));
  await meanwhile();
  for (const name of lost) await world.recoverNode(name).catch(() => {});
}

function happened(change: () => void): boolean {
  try {
    change();
    return true;
  } catch {
    return false;
  }
}

async function untilWell(world: World): Promise<void> {
  const areWell = async () => (await world.list(Node)).every((node) => problemOf(node) === undefined);
  await world.until("all nodes are well", areWell, { within: 600_000 });
}

function problemOf({ metadata: { name }, spec, status }: Node): string | undefined {
  const taint = spec?.taints?.find(({ key }) => ownTaint.test(key));
  if (taint !== undefined) return `${name} runs, and has the taint ${taint.key}:${taint.effect}`;
  const ready = status?.conditions?.find(({ type }) => type === "Ready")?.status;
  return ready === "True" ? undefined : `${name} runs, and its Ready is ${ready}`;
}

/** End states leave nodes out; these all run again when a story ends. */
const nodesAreWell: Oracle = {
  name: "nodes that run are ready, and without taints of the lost",
  judge: (view) => ({
    ended: () =>
      view
        .list(Node)
        .map(problemOf)
        .find((each) => each !== undefined),
  }),
};

/** All others tolerate what befalls their nodes. */
const onlyGuestsGo: Oracle = {
  name: "only guests are evicted",
  judge: (view) => ({
    passed({ who, kind, what, request }) {
      const isEviction = kind === "write" && view.operators.includes(who) && request !== undefined;
      if (!isEviction || deletionOf(request) === undefined || what.endsWith("/guest")) return undefined;
      return `${what} evicts a pod that tolerates the taints of its node`;
    },
  }),
};

/** The garbage collector is part of the world. */
export function subject(): Setting {
  const operator = defineOperator({
    name: "controllers",
    controllers: [nodeLifecycle(), taintEvictions()],
    permissions: [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }],
  });
  const oracles = [nodesAreWell, onlyGuestsGo];
  return { operators: [operator], controllers: "collector", nodes: 2, heartbeats: true, oracles };
}

export const options: Omit<LawOptions, "worlds"> = {
  seed: 7,
  withinMs: 600_000,
  // A day of heartbeats would take longer than all faults.
  quietMs: 180_000,
  oracles: allOracles,
};
