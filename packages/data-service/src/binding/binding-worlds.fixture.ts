/** What is explored of bindings, and the promises that hold after every request. */
import { Secret } from "setpoint/kinds";
import { minutes } from "setpoint";
import {
  happens,
  type LawOptions,
  type Oracle,
  patch,
  remove,
  run,
  type Setting,
  type StoryInit,
  story,
  type WorldView,
} from "setpoint/testing";
import { ServiceBinding } from "../kinds/service-binding.ts";
import { bindingLabel, loginOf } from "./binding-secret.ts";
import { modelOperator, ModelUsers, Shelf } from "./model-engine.fixture.ts";
import { planBinding } from "./plan-binding.ts";

const overlapMs = minutes(10);

/** The operator with a model of users, both new. */
export function subject(plan = planBinding): Setting {
  const model = new ModelUsers();
  return {
    operators: [(process) => modelOperator(model, process, plan)],
    oracles: [everyUserIsKnown(model), publishedLoginsWork(model)],
  };
}

const shelf = Shelf({ name: "books", spec: {} });
const binding = ServiceBinding({
  name: "reader",
  spec: {
    instance: { apiGroup: Shelf.group, kind: Shelf.kind, name: "books" },
    rights: { read: "*" },
    rotation: { overlap: "10m" },
  },
});
const rotate = patch(ServiceBinding, "reader", { spec: { rotation: { request: "now" } } });

export const worlds: readonly StoryInit[] = [
  story("a binding is made", shelf, binding),
  story("a login is rotated", shelf, binding, rotate, run(minutes(12))),
  story("a binding is deleted during a rotation", shelf, binding, rotate, remove(ServiceBinding, "reader")),
  story("rights change", shelf, binding, patch(ServiceBinding, "reader", { spec: { rights: { write: "*" } } })),
  story("a Secret is deleted", shelf, binding, remove(Secret, "reader"), run(minutes(12))),
  story(
    "an instance is deleted, and its binding",
    shelf,
    binding,
    happens("both are deleted", async (world) => {
      await world.delete(Shelf, "books");
      await world.delete(ServiceBinding, "reader");
    }),
  ),
];

export const options: Omit<LawOptions, "worlds"> = {
  seed: 11,
  // Passwords are random, and so are the moments from which a login counts.
  mayDiffer: ["Secret.data.password", "Secret.data.uri", "ServiceBinding.status.logins"],
};

/** A user that no status names would never be dropped. */
export function everyUserIsKnown(model: ModelUsers): Oracle {
  return judged("every user is in a status", (view) => {
    const known = new Set(view.list(ServiceBinding).flatMap(({ status }) => (status?.logins ?? []).map((l) => l.user)));
    for (const { metadata } of view.list(Shelf))
      for (const user of model.of(metadata.uid).keys())
        if (!known.has(user)) return `user ${user} is in no ServiceBinding's status`;
    return undefined;
  });
}

interface Published {
  readonly shelf: string;
  readonly binding: string;
  untilMs: number;
}

/** A login that was in a Secret and worked goes on working until its overlap has passed. */
export function publishedLoginsWork(model: ModelUsers): Oracle {
  return {
    name: "a published login works until its overlap has passed",
    judge(view) {
      const published = new Map<string, Published>();
      return { passed: () => note(model, view, published) ?? broken(model, view, published) };
    },
  };
}

function note(model: ModelUsers, view: WorldView, published: Map<string, Published>): undefined {
  for (const secret of view.list(Secret)) {
    if (secret.metadata.labels?.[bindingLabel] === undefined) continue;
    const owner = secret.metadata.ownerReferences?.[0]?.uid ?? "";
    const login = loginOf(secret);
    const shelfUid = view.list(Shelf)[0]?.metadata.uid;
    if (shelfUid === undefined || !model.accepts(shelfUid, login)) continue;
    const untilMs = view.nowMs + overlapMs;
    published.set(JSON.stringify(login), { shelf: shelfUid, binding: owner, untilMs });
  }
  return undefined;
}

function broken(model: ModelUsers, view: WorldView, published: ReadonlyMap<string, Published>): string | undefined {
  const bindings = view.list(ServiceBinding).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  for (const [text, { shelf: uid, binding: owner, untilMs }] of published) {
    const isWanted = bindings.some(({ metadata }) => metadata.uid === owner);
    const isThere = view.list(Shelf).some(({ metadata }) => metadata.uid === uid);
    const login = JSON.parse(text) as ReturnType<typeof loginOf>;
    if (isWanted && isThere && view.nowMs < untilMs && !model.accepts(uid, login))
      return `user ${login.user} cannot log in any more, ${untilMs - view.nowMs} ms before its overlap ends`;
  }
  return undefined;
}

function judged(name: string, holds: (view: WorldView) => string | undefined): Oracle {
  return { name, judge: (view) => ({ passed: () => holds(view) }) };
}
