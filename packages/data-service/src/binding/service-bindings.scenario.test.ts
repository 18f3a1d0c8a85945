/** Bindings in the simulated world, with a model of an engine whose users are in memory. */
import { Secret } from "setpoint/kinds";
import { minutes, seconds, type Stored } from "setpoint";
import { conditionOf, simulate, type World } from "setpoint/testing";
import { describe, expect, test } from "vitest";
import { ServiceBinding } from "../kinds/service-binding.ts";
import { loginOf } from "./binding-secret.ts";
import { modelOperator, ModelUsers, Shelf } from "./model-engine.fixture.ts";

interface Stage {
  readonly world: World;
  readonly model: ModelUsers;
}

async function setUp(seed: number): Promise<Stage> {
  const model = new ModelUsers();
  const world = await simulate({ seed, operators: [(process) => modelOperator(model, process)] });
  return { world, model };
}

const instance = { apiGroup: "model.setpoint.dev", kind: "Shelf", name: "books" };

function binding(spec: object = {}): ServiceBinding {
  return ServiceBinding({ name: "reader", spec: { instance, ...spec } });
}

const hourly = { rotation: { every: "1h", overlap: "10m" } };

async function secretOf({ world }: Stage): Promise<Stored<Secret>> {
  return world.get(Secret, "reader");
}

async function users({ world, model }: Stage): Promise<readonly string[]> {
  return [...model.of((await world.get(Shelf, "books")).metadata.uid).keys()].sort();
}

async function bound(stage: Stage, spec: object = {}): Promise<void> {
  await stage.world.apply(Shelf({ name: "books", spec: {} }));
  await stage.world.apply(binding(spec));
  await stage.world.settled();
}

describe("a binding", () => {
  test("gets a user and a Secret as servicebinding.io wants it", async () => {
    const stage = await setUp(1);
    await using world = stage.world;
    await bound(stage, { rights: { read: "*" } });
    const secret = await secretOf(stage);
    const { uid } = (await world.get(ServiceBinding, "reader")).metadata;
    const user = `sb-${uid}-1`;
    expect(secret.type).toBe("servicebinding.io/shelf");
    expect(Object.keys(secret.data ?? {}).sort()).toEqual([
      ...["host", "password", "port", "provider", "type", "uri", "username"],
    ]);
    expect(loginOf(secret).user).toBe(user);
    expect(secret.metadata.ownerReferences?.map((owner) => owner.uid)).toEqual([uid]);
    const { status } = await world.get(ServiceBinding, "reader");
    expect(status?.binding).toEqual({ name: "reader" });
    expect(status?.logins).toMatchObject([{ user, generation: 1, state: "Active" }]);
    expect(conditionOf(await world.get(ServiceBinding, "reader"), "Ready")?.status).toBe("True");
    const shelf = (await world.get(Shelf, "books")).metadata.uid;
    expect(stage.model.accepts(shelf, loginOf(secret))).toBe(true);
    expect(stage.model.of(shelf).get(user)?.rights).toEqual({ read: "*" });
    await world.expectQuiet();
  });

  test("of a missing instance waits, and says so", async () => {
    const stage = await setUp(2);
    await using world = stage.world;
    await world.apply(binding());
    await world.run(minutes(1));
    expect(conditionOf(await world.get(ServiceBinding, "reader"), "Ready")).toMatchObject({
      status: "False",
      reason: "InstanceMissing",
      message: 'Shelf "books" does not exist',
    });
    await world.apply(Shelf({ name: "books", spec: {} }));
    await world.settled();
    expect((await users(stage)).length).toBe(1);
  });

  test("of another engine is left alone", async () => {
    const stage = await setUp(3);
    await using world = stage.world;
    await world.apply(Shelf({ name: "books", spec: {} }));
    await world.apply(
      ServiceBinding({ name: "reader", spec: { instance: { ...instance, apiGroup: "etcd.setpoint.dev" } } }),
    );
    await world.run(minutes(1));
    const { status, metadata } = await world.get(ServiceBinding, "reader");
    expect([status, metadata.finalizers]).toEqual([undefined, undefined]);
  });

  test("does not take over a Secret of another owner", async () => {
    const stage = await setUp(4);
    await using world = stage.world;
    await world.apply(Secret({ name: "reader", data: { username: "bWU=" } }));
    await world.apply(Shelf({ name: "books", spec: {} }));
    await world.apply(binding());
    await world.run(minutes(1));
    expect(conditionOf(await world.get(ServiceBinding, "reader"), "Ready")).toMatchObject({
      reason: "SecretNameTaken",
    });
    expect((await secretOf(stage)).data).toEqual({ username: "bWU=" });
    expect(await users(stage)).toEqual([]);
  });

  test("that is deleted drops its user, and the engine's administrator inherits", async () => {
    const stage = await setUp(5);
    await using world = stage.world;
    await bound(stage);
    const shelf = (await world.get(Shelf, "books")).metadata.uid;
    const { user } = loginOf(await secretOf(stage));
    stage.model.owners.set(`${shelf}/poem`, user);
    await world.delete(ServiceBinding, "reader");
    await world.settled();
    expect(await users(stage)).toEqual([]);
    expect(stage.model.owners.get(`${shelf}/poem`)).toBe("administrator");
    expect((await world.list(Secret)).length).toBe(0);
    await world.expectQuiet();
  });

  test("is deleted although its instance is gone", async () => {
    const stage = await setUp(6);
    await using world = stage.world;
    await bound(stage);
    await world.delete(Shelf, "books");
    await world.run(seconds(10));
    await world.delete(ServiceBinding, "reader");
    await world.settled();
    expect(await world.list(ServiceBinding)).toEqual([]);
  });

  test("waits with its deletion until the instance can drop the user", async () => {
    const stage = await setUp(7);
    await using world = stage.world;
    await bound(stage);
    await world.patch(Shelf, "books", { spec: { serving: false } });
    await world.delete(ServiceBinding, "reader");
    await world.run(minutes(1));
    expect((await world.list(ServiceBinding)).length).toBe(1);
    await world.patch(Shelf, "books", { spec: { serving: true } });
    await world.settled();
    expect(await users(stage)).toEqual([]);
    expect(await world.list(ServiceBinding)).toEqual([]);
  });

  test("follows a change of rights, and of the instance's address", async () => {
    const stage = await setUp(8);
    await using world = stage.world;
    await bound(stage, { rights: { read: "*" } });
    const before = loginOf(await secretOf(stage));
    await world.patch(ServiceBinding, "reader", { spec: { rights: { write: "/poems" } } });
    await world.settled();
    const shelf = (await world.get(Shelf, "books")).metadata.uid;
    expect(stage.model.of(shelf).get(before.user)?.rights).toEqual({ read: "*", write: "/poems" });
    await world.patch(Shelf, "books", { spec: { host: "other.example" } });
    await world.run(minutes(6));
    expect(Buffer.from((await secretOf(stage)).data?.["host"] ?? "", "base64").toString()).toBe("other.example");
    expect(loginOf(await secretOf(stage))).toEqual(before);
  });

  test("gives a restored or recreated instance its user again, with the same password", async () => {
    const stage = await setUp(9);
    await using world = stage.world;
    await bound(stage);
    const before = loginOf(await secretOf(stage));
    await world.delete(Shelf, "books");
    await world.run(seconds(10));
    await world.apply(Shelf({ name: "books", spec: {} }));
    await world.settled();
    const shelf = (await world.get(Shelf, "books")).metadata.uid;
    expect(loginOf(await secretOf(stage))).toEqual(before);
    expect(stage.model.accepts(shelf, before)).toBe(true);
  });

  test("whose Secret is deleted gets the same login again", async () => {
    const stage = await setUp(10);
    await using world = stage.world;
    await bound(stage);
    const before = loginOf(await secretOf(stage));
    await world.delete(Secret, "reader");
    await world.settled();
    expect(loginOf(await secretOf(stage))).toEqual(before);
    expect(await users(stage)).toEqual([before.user]);
  });

  test("whose Secrets are both deleted gets another login, and the lost one is dropped after the overlap", async () => {
    const stage = await setUp(10);
    await using world = stage.world;
    await bound(stage, { rotation: { overlap: "10m" } });
    const before = loginOf(await secretOf(stage));
    world.stopOperator();
    await world.delete(Secret, "reader");
    await world.delete(Secret, "reader-login");
    await world.restartOperator();
    await world.settled();
    const after = loginOf(await secretOf(stage));
    expect(after.user).not.toBe(before.user);
    expect(await users(stage)).toEqual([before.user, after.user].sort());
    await world.run(minutes(11));
    expect(await users(stage)).toEqual([after.user]);
  });
});

describe("a rotation", () => {
  test("proves the new login before the old one goes, which works until the overlap ends", async () => {
    const stage = await setUp(11);
    await using world = stage.world;
    await bound(stage, hourly);
    const shelf = (await world.get(Shelf, "books")).metadata.uid;
    const old = loginOf(await secretOf(stage));
    stage.model.owners.set(`${shelf}/poem`, old.user);
    await world.run(minutes(61));
    const next = loginOf(await secretOf(stage));
    expect(next.user).not.toBe(old.user);
    expect([old, next].map((login) => stage.model.accepts(shelf, login))).toEqual([true, true]);
    await world.run(minutes(8));
    expect(stage.model.accepts(shelf, old)).toBe(true);
    await world.run(minutes(4));
    expect([old, next].map((login) => stage.model.accepts(shelf, login))).toEqual([false, true]);
    expect(stage.model.owners.get(`${shelf}/poem`)).toBe(next.user);
  });

  test("is done at once on request, once a request", async () => {
    const stage = await setUp(12);
    await using world = stage.world;
    await bound(stage);
    const old = loginOf(await secretOf(stage));
    await world.patch(ServiceBinding, "reader", { spec: { rotation: { request: "leaked" } } });
    await world.settled();
    const next = loginOf(await secretOf(stage));
    expect(next.user).toBe(old.user.replace(/1$/, "2"));
    await world.run(minutes(120));
    expect(loginOf(await secretOf(stage))).toEqual(next);
    expect(await users(stage)).toEqual([next.user]);
  });
});

describe("the condition Rotating", () => {
  const rotating = async ({ world }: Stage): Promise<object | undefined> =>
    conditionOf(await world.get(ServiceBinding, "reader"), "Rotating");

  test("is true from the request until the overlap has ended", async () => {
    const stage = await setUp(14);
    await using world = stage.world;
    await bound(stage, { rotation: { overlap: "10m" } });
    expect(await rotating(stage)).toMatchObject({ status: "False", reason: "NotRotating" });
    const old = loginOf(await secretOf(stage));
    await world.patch(ServiceBinding, "reader", { spec: { rotation: { request: "leaked" } } });
    await world.settled();
    const next = loginOf(await secretOf(stage));
    expect(await rotating(stage)).toMatchObject({ status: "True", reason: "Overlap" });
    expect(JSON.stringify(await rotating(stage))).toMatch(
      new RegExp(`User ${next.user} is in the Secret; user ${old.user} works until 20.*Z and is then dropped`),
    );
    await world.run(minutes(11));
    expect(await rotating(stage)).toMatchObject({ status: "False", reason: "NotRotating" });
    await world.expectQuiet();
  });

  test("says what a rotation waits for", async () => {
    const stage = await setUp(15);
    await using world = stage.world;
    await bound(stage);
    await world.patch(Shelf, "books", { spec: { serving: false } });
    await world.patch(ServiceBinding, "reader", { spec: { rotation: { request: "leaked" } } });
    await world.run(minutes(1));
    expect(await rotating(stage)).toMatchObject({
      status: "True",
      reason: "Waiting",
      message: expect.stringContaining('Shelf "books" does not serve') as string,
    });
  });

  test("says when a rotation begins that has too many users beside it", async () => {
    const stage = await setUp(16);
    await using world = stage.world;
    await bound(stage, { rotation: { overlap: "10h" } });
    for (const request of ["a", "b", "c", "d"]) {
      await world.patch(ServiceBinding, "reader", { spec: { rotation: { request } } });
      await world.settled();
    }
    expect(await rotating(stage)).toMatchObject({
      status: "True",
      reason: "Waiting",
      message: expect.stringMatching(/^there are 4 logins; the next one is made when user sb-.* works until/) as string,
    });
  });
});

test("a refused right is reported without the password that the engine repeats", async () => {
  const stage = await setUp(13);
  await using world = stage.world;
  await world.apply(Shelf({ name: "books", spec: {} }));
  await world.apply(binding({ rights: { fly: "high" } }));
  await world.run(minutes(2));
  const ready = conditionOf(await world.get(ServiceBinding, "reader"), "Ready");
  expect(ready?.message).toContain('there is no right "fly" (password: …)');
  await world.patch(ServiceBinding, "reader", { spec: { rights: { fly: null, read: "*" } } });
  await world.settled();
  expect((await users(stage)).length).toBe(1);
});
