/** What users do to a Store. The world settles after each step. */
import { ConfigMap, PersistentVolumeClaim, Secret, StatefulSet } from "@setpoint/api";
import { isNotFound, type KubeObject } from "@setpoint/apimachinery";
import { apply, happens, patch, remove, type Story, story, type StoryStep, type World } from "@setpoint/testing";
import { Store } from "./store.ts";

export const storeName = "orders";
const withinMs = 600_000;

export type Spec = Partial<Store["spec"]>;

/** Makes a store, then changes its spec. */
export function changing(...specs: readonly Spec[]): Story {
  return story(nameOf("a store", specs), ...stepsOf(specs));
}

function stepsOf([first = {}, ...changes]: readonly Spec[]): readonly StoryStep[] {
  return [apply(Store({ name: storeName, spec: first })), ...changes.map((spec) => patch(Store, storeName, { spec }))];
}

function nameOf(what: string, specs: readonly Spec[]): string {
  return `${what} with ${specs.map((spec) => JSON.stringify(spec)).join(", then ")}`;
}

/** As `changing`, with more at the end. */
export function changingAnd(name: string, specs: readonly Spec[], ...more: readonly StoryStep[]): Story {
  return story(name, ...stepsOf(specs), ...more);
}

/** Changes come so fast that an operator may see only the last of them. */
export function hurried(pauseMs: number, ...specs: readonly Spec[]): Story {
  const [first = {}, ...changes] = specs;
  const name = nameOf("a store in haste", specs);
  return story(
    name,
    happens(name, async (world) => {
      await world.apply(Store({ name: storeName, spec: first }));
      for (const spec of changes) {
        await world.run(pauseMs);
        await world.patch(Store, storeName, { spec });
      }
    }),
  );
}

/** The store is deleted, and nothing of it may be left. */
export function deleting(spec: Spec = {}): Story {
  const nothingLeft = happens("nothing of the store is left", async (world) => {
    for (const kind of [ConfigMap, Secret, PersistentVolumeClaim, StatefulSet])
      for (const { metadata } of await world.list<KubeObject>(kind))
        if (metadata.labels?.["store"] === storeName)
          throw new Error(`${kind.kind} "${metadata.name}" was left behind`);
  });
  return story("a store is made and deleted", ...stepsOf([spec]), remove(Store, storeName), gone, nothingLeft);
}

/** The store is deleted, and a namesake takes its place. */
export function replacing(spec: Spec = {}): Story {
  const [make] = stepsOf([spec]);
  if (make === undefined) throw new Error("a story without a first step");
  return story("a store is replaced by a namesake", make, remove(Store, storeName), gone, make);
}

const gone = happens("the store is gone", (world) =>
  world.until("the store is gone", () => isGone(world), { within: withinMs }),
);

async function isGone(world: World): Promise<boolean> {
  try {
    await world.get(Store, storeName);
    return false;
  } catch (error) {
    if (isNotFound(error)) return true;
    throw error;
  }
}
