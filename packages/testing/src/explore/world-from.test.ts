import { ConfigMap } from "@setpoint/api";
import { expect, test } from "vitest";
import { simulate } from "../simulate.ts";
import { play } from "./story.ts";
import { worldFrom } from "./world-from.ts";

/** As `kubectl get -o json` shows it. */
function recorded(name: string, uid: string, more: Partial<ConfigMap["metadata"]>): ConfigMap {
  const object = ConfigMap({ name, namespace: "default", data: { a: "1" } });
  return { ...object, metadata: { ...object.metadata, uid, resourceVersion: "77", ...more } };
}

test("recorded objects are recreated with the new UIDs of their owners", async () => {
  const owner = recorded("owner", "old-1", {});
  const child = recorded("child", "old-2", {
    ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: "old-1" }],
  });
  await using world = await simulate({ seed: 1 });
  await play(world, worldFrom([child, owner]));
  const made = await world.get(ConfigMap, "owner");
  const [reference] = (await world.get(ConfigMap, "child")).metadata.ownerReferences ?? [];
  expect(reference).toMatchObject({ name: "owner", uid: made.metadata.uid });
  expect(made).toMatchObject({ data: { a: "1" } });
  // The garbage collector finds the owner, and lets the child be.
  await world.run(60_000);
  expect((await world.get(ConfigMap, "child")).metadata.name).toBe("child");
});
