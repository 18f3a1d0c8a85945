import { createKind } from "@setpoint/apimachinery";
import { controller } from "@setpoint/runtime";
import { expect, test } from "vitest";
import { candy, Candy, createControllerWorld, refusal, type ControllerWorld } from "../run/controller-world.fixture.ts";

const problems = (world: ControllerWorld): readonly string[] =>
  world.host.lines
    .filter(({ message }) => message === "Cannot fill a cache")
    .map(({ fields }) => String(fields["problem"]));

test("a kind that the server does not have is named once, with what to install, and waited for", async () => {
  await using world = createControllerWorld();
  const Toy = createKind({ group: "toys.example.com", version: "v1", kind: "Toy", plural: "toys", namespaced: true });
  const manager = world.start([controller(Toy, { reconcile: async () => {} })]);
  await world.run(600_000);
  expect(problems(world)).toEqual([
    'Cannot list Toy: the server does not serve toys.toys.example.com in version v1; install its CustomResourceDefinition (of an operator\'s own kinds: "setpoint manifests | kubectl apply -f -")',
  ]);
  const check = manager.readyz().checks.find(({ name }) => name.startsWith("cache toys"));
  expect(check).toMatchObject({ ok: false, message: problems(world)[0] });
});

test("missing rights are named once: verbs, resource, group and namespace; and forgotten when they are granted", async () => {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const message = 'candies.example.com is forbidden: User "operator" cannot list resource "candies"';
  world.refuse = ({ path }) => (path.includes("candies") ? refusal(403, "Forbidden", message) : undefined);
  let runs = 0;
  const manager = world.start([controller(Candy, { reconcile: async () => void runs++ })]);
  await world.run(300_000);
  expect(problems(world)).toEqual([
    `Cannot list candies.example.com in all namespaces: the account lacks a rule; grant it the verbs "get", "list" and "watch" on resource "candies" of API group "example.com" ("setpoint manifests" prints all rules): ${message}`,
  ]);
  expect(world.host.lines.filter(({ level }) => level === "warn" || level === "error").length).toBe(1);
  expect(manager.readyz().ok).toBe(false);

  world.refuse = () => undefined;
  await world.run(120_000);
  expect(runs).toBe(1);
  expect(manager.readyz().ok).toBe(true);
  expect(world.host.lines.some((line) => line.message === "Cache can be filled again")).toBe(true);
});

test("a missing right to watch is logged once, and a successful list does not count as its end", async () => {
  await using world = createControllerWorld();
  const message = 'User "operator" cannot watch resource "candies"';
  // A list works, with `sendInitialEvents` or without: what is refused is to follow it.
  world.refuse = ({ path, query }) => {
    if (!path.includes("candies") || query?.["watch"] === undefined) return undefined;
    return query["sendInitialEvents"] === undefined
      ? refusal(403, "Forbidden", message)
      : refusal(400, "BadRequest", "sendInitialEvents is not understood");
  };
  world.start([controller(Candy, { reconcile: async () => {} })]);
  await world.run(300_000);
  expect(world.faults.sent.filter(({ request }) => request.query?.["watch"] === undefined).length).toBeGreaterThan(0);
  expect(problems(world)).toEqual([expect.stringContaining(message)]);
});
