import { controller, outcome } from "@setpoint/runtime";
import { expect, test } from "vitest";
import {
  candy,
  Candy,
  createControllerWorld,
  refusal,
  said,
  wrapper,
  Wrapper,
  wrapping,
  type Refuse,
} from "../run/controller-world.fixture.ts";

/** The server refuses to write this child. */
function refusing(flavor: string, ...answer: readonly [number, string, string, string?]): Refuse {
  return ({ method, path }) => (method !== "GET" && path.endsWith(`lolly-${flavor}`) ? refusal(...answer) : undefined);
}

test.each([
  ["an immutable field", "ImmutableField", [422, "Invalid", "data: Invalid value: {}: field is immutable"]],
  ["a value that a rule forbids", "Rejected", [422, "Invalid", "data: Invalid value: too sweet"]],
  [
    "a namespace that goes away",
    "NamespaceTerminating",
    [403, "Forbidden", "namespace default is being terminated", "NamespaceTerminating"],
  ],
] as const)("%s is tried once and waits for a change", async (_what, reason, answer) => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const [code, kind, message, cause] = answer as readonly [number, string, string, string?];
  world.refuse = refusing("mint", code, kind, message, cause);
  const manager = world.start([wrapping]);
  await world.settle(manager);
  expect(said(await world.candy(), "Stalled")).toBe(`True ${reason}: ${answer[2]}`);
  await world.run(3_600_000);
  expect(world.writes()).toEqual(["PATCH configmaps/lolly-mint", "PATCH candies/lolly/status"]);
  world.refuse = () => undefined;
  await world.client.patch(Candy, { name: "lolly", namespace: "default" }, { spec: { flavors: ["lime"] } });
  await world.settle(manager);
  expect(said(await world.candy(), "Stalled")).toMatch(/^False Accepted/);
});

test.each([
  ["are written as they are wanted, on the revision that was seen", {}, ["ours"], "False"],
  ["stay where nothing of others may be forced", { force: false }, ["ours", "theirs"], "True"],
])("lists with foreign items of a child that the server refuses %s", async (_what, options, items, stalled) => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy());
  const shelf = { ...wrapper("mint"), items: ["ours"] };
  const shelves = controller(Candy, {
    owns: [Wrapper],
    reconcile: async (_candy, { apply }) => void (await apply(shelf, options)),
  });
  await world.settle(world.start([shelves]));
  const key = { name: "lolly-mint", namespace: "default" };
  const from = world.faults.sent.length;
  let refused = false;
  world.refuse = (request) => {
    if (request.method !== "PATCH" || !request.path.endsWith("lolly-mint") || refused) return undefined;
    refused = true;
    return refusal(422, "Invalid", "items[1]: Duplicate value");
  };
  const edited = await world.client.patch(Wrapper, key, { items: ["ours", "theirs"] });
  await world.run(30_000);
  expect(await world.client.get(Wrapper, key)).toMatchObject({ items });
  const bodies = world.faults.sent
    .slice(from)
    .flatMap(({ request }) => (request.method === "PATCH" ? [request.body] : []));
  const { uid, resourceVersion } = edited.metadata;
  if (stalled === "False") expect(bodies).toContainEqual({ items: ["ours"], metadata: { uid, resourceVersion } });
  else expect(said(await world.candy(), "Stalled")).toMatch(/^True/);
});

test("a quota that is used up is tried again ever more slowly, with one write of the status", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint", "lime"));
  world.refuse = refusing("mint", 403, "Forbidden", 'configmaps "lolly-mint" is forbidden: exceeded quota: few');
  const manager = world.start([wrapping]);
  await world.run(600_000);
  expect(said(await world.candy(), "Stalled")).toMatch(/^True QuotaExceeded/);
  expect(world.writes().filter((write) => write.endsWith("status")).length).toBe(1);
  expect(world.writes().filter((write) => write.endsWith("mint")).length).toBeLessThan(25);
  world.refuse = () => undefined;
  await world.run(1_100_000);
  await world.settle(manager);
  expect((await world.candy()).status?.wrappers).toBe(2);
});

test("outcome() tells done, refused with its reason, and unknown apart", async () => {
  await using world = createControllerWorld();
  await world.client.create(Wrapper, wrapper("mint"));
  await world.client.create(Candy, candy("mint"));
  const seen: string[] = [];
  const careful = controller(Candy, {
    owns: [Wrapper],
    async reconcile(_candy, { create }) {
      for (const flavor of ["mint", "lime", "plum"]) {
        const created = await outcome(create(wrapper(flavor)));
        seen.push(created.kind === "refused" ? `refused: ${created.reason ?? "?"}` : created.kind);
      }
    },
  });
  world.faults.plan = ({ request }) =>
    request.method === "POST" && JSON.stringify(request.body).includes("plum") ? { kind: "lose" } : undefined;
  await world.settle(world.start([careful]));
  expect(seen.slice(0, 3)).toEqual(["refused: NotOwned", "done", "unknown"]);
});

test("a write with `once` is not sent again when the server is busy: the next run decides", async () => {
  let refused = 0;
  const refuse: Refuse = ({ method, path }) =>
    method === "PATCH" && path.endsWith("lolly-mint") && refused++ === 0
      ? refusal(429, "TooManyRequests", "busy")
      : undefined;
  await using world = createControllerWorld();
  world.refuse = refuse;
  const seen: number[] = [];
  const patching = controller(Candy, {
    owns: [Wrapper],
    async reconcile({ metadata }, { client, patch }) {
      const [present] = (await client.listAll(Wrapper)).items;
      if (present === undefined || metadata.name !== "lolly" || present.data?.["seen"] !== undefined) return;
      seen.push(refused);
      await patch(present, { data: { seen: "yes" } }, { once: true });
    },
  });
  await world.client.create(Wrapper, wrapper("mint"));
  await world.client.create(Candy, candy("mint"));
  world.start([patching]);
  await world.host.clock.run(60_000);
  expect(seen).toEqual([0, 1]);
});

test("a child of a kind that is not declared is a rejection that the author can catch, not a throw", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const met: unknown[] = [];
  const careless = controller(Candy, {
    reconcile: async (_parent, { apply }) => {
      const answer = apply(wrapper("mint"));
      await answer.catch((error: unknown) => met.push(error));
    },
  });
  await world.settle(world.start([careless]));
  expect(met).toEqual([expect.objectContaining({ code: "ERR_NOT_DECLARED" })]);
});
