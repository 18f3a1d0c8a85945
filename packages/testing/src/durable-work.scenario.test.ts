/**
 * Effects and steps under every fault that the explorer knows: what is done outside is done once, and in
 * order.
 */
import { conditions, controller, defineKind, defineOperator, type Effect } from "setpoint";
import { test } from "vitest";
import { z } from "zod";
import { invariant, patch, reconcilerLaws, remove, story, type OperatorSource, type Setting } from "./index.ts";
import { placedKinds } from "./explore/fault-menu.ts";

const Move = defineKind({
  group: "example.com",
  version: "v1",
  kind: "Move",
  spec: z.object({ to: z.string() }),
  status: z.object({ receipt: z.string().optional(), conditions: conditions().optional() }),
});

/**
 * A mover outside of the cluster. Some know by the key what they have done, others do whatever they are
 * asked.
 */
class Mover {
  readonly #knowsKeys: boolean;
  readonly done: string[] = [];
  readonly #receipts = new Map<string, string>();

  constructor(knowsKeys: boolean) {
    this.#knowsKeys = knowsKeys;
  }

  find(key: string): string | undefined {
    return this.#receipts.get(key);
  }

  do(what: string, key: string): string {
    if (!this.#knowsKeys || !this.#receipts.has(key)) this.done.push(`${what} ${key}`);
    this.#receipts.set(key, what);
    return what;
  }

  /** What was done more than once for one key. */
  get repeated(): readonly string[] {
    return this.done.filter((each, index) => this.done.indexOf(each) !== index);
  }
}

function moving(mover: Mover): OperatorSource {
  return (process) => {
    const asking = (what: string): Effect<string> => ({
      find: (key) => process.call(`look ${what}`, "look", async () => mover.find(key)),
      do: (key) => process.call(what, "write", async () => mover.do(what, key)),
    });
    const moves = controller(Move, {
      ledger: true,
      async reconcile({ spec }, { step, effect, status }) {
        const packed = await step("pack", () => effect(`pack for ${spec.to}`, asking("pack")));
        const moved = await step("move", () => effect(`move to ${spec.to}`, asking(`move to ${spec.to}`)));
        await status({ receipt: `${packed}, ${moved}` });
      },
      async cleanup(_move, { effect }) {
        await effect("unpack", asking("unpack"));
      },
    });
    return defineOperator({ name: "mover", controllers: [moves] });
  };
}

function setting(knowsKeys: boolean): Setting {
  const mover = new Mover(knowsKeys);
  const once = invariant("nothing is done twice outside", () =>
    mover.repeated.length === 0 ? undefined : `done again: ${mover.repeated.join(", ")}`,
  );
  return { operators: [moving(mover)], oracles: [once] };
}

const data = Move({ name: "data", spec: { to: "b" } });
const worlds = [
  story("moves on", data, patch(Move, "data", { spec: { to: "c" } })),
  story("is deleted", data, remove(Move, "data")),
];
const options = {
  seed: 1,
  seconds: Number(process.env["LAW_SECONDS"] ?? 6),
  worlds,
  // What a mover has done for an object is its history: one whose first wish nobody saw has another.
  mayDiffer: ["Move.metadata.annotations.ledger.setpoint.dev/move"],
};

/** A request that comes late, after its answer was given up, is a second one where nobody looks at keys. */
const late = "B3";

test("effects in steps are done once and in order under every single fault, by a mover that forgets nothing", async () => {
  const faults = placedKinds.filter((kind) => kind !== late && kind !== "C13");
  await reconcilerLaws(() => setting(false), { ...options, faults });
});

test("a request that comes late changes nothing where the key is handed on, and no status goes back", async () => {
  await reconcilerLaws(() => setting(true), { ...options, faults: [late] });
});
