/** What is explored of ResourceQuotas. Only tests import this. */
import { Pod, ResourceQuota, Service } from "@setpoint/api";
import { isNotFound } from "@setpoint/apimachinery";
import { happens, patch, remove, story, type StoryInit, unsettled, type World } from "./index.ts";

const requests = { cpu: "500m", memory: "64Mi" };
const pod = (name: string): Pod =>
  Pod({
    name,
    namespace: "default",
    // Bound already: the scheduler has stories of its own.
    spec: { nodeName: "node-0", containers: [{ name: "c", image: "c:1", resources: { requests } }] },
  });
const quota = (hard: Readonly<Record<string, string>>): ResourceQuota =>
  ResourceQuota({ name: "team", spec: { hard } });

export const quotaWorlds: readonly StoryInit[] = [
  story(
    "a ResourceQuota shows what its namespace uses",
    pod("a"),
    quota({ pods: "10", services: "2", "requests.cpu": "4" }),
    Service({ name: "far", spec: { ports: [{ port: 80 }] } }),
    pod("b"),
    patch(ResourceQuota, "team", { spec: { hard: { pods: "8", services: null, "requests.memory": "1Gi" } } }),
    // Another one of its name, while an answer about the first may still be on its way.
    unsettled(remove(ResourceQuota, "team")),
    quota({ pods: "10" }),
    // A fault may delete the pod before.
    happens("delete one of the pods", (world) => removePod(world, "a")),
  ),
];

async function removePod(world: World, name: string): Promise<void> {
  await world.wait(world.client.delete(Pod, { name, namespace: "default" })).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}
