/**
 * Authentication and ServiceBindings of simulated etcd. That real etcd behaves so is the subject of
 * e2e/etcd-binding.long.test.ts.
 */
import { ServiceBinding } from "@setpoint/data-service";
import { type KubeObject, minutes, seconds } from "setpoint";
import { Event, Pod, PodDisruptionBudget, Secret, Service } from "setpoint/kinds";
import { conditionOf, EtcdModel, explore, type Fault, happens, replaySchedule, story } from "setpoint/testing";
import { describe, expect, test } from "vitest";
import { EtcdCluster } from "./kind/etcd-cluster.ts";
import * as bindings from "./testing/etcd-binding-worlds.ts";
import { bootstrap, expectHealthy, scenario, type Stage } from "./testing/etcd-stage.ts";

const auth = { auth: { enabled: true } };

function binding(rights: Readonly<Record<string, string>> = { "/shop/": "readwrite" }): ServiceBinding {
  const instance = { apiGroup: EtcdCluster.group, kind: EtcdCluster.kind, name: "orders" };
  return ServiceBinding({ name: "shop", spec: { instance, rights, rotation: { overlap: "5m" } } });
}

/** The users of etcd but root, with their passwords. */
function users({ etcd }: Stage): Readonly<Record<string, string>> {
  const [member] = etcd.members("orders");
  const { root: _, ...others } = member?.data.auth.users ?? {};
  return Object.fromEntries(Object.entries(others).map(([name, { password }]) => [name, password]));
}

async function login({ world }: Stage): Promise<Readonly<Record<string, string>>> {
  const { data = {} } = await world.get(Secret, "shop");
  const text = (key: string): string => Buffer.from(data[key] ?? "", "base64").toString();
  return { [text("username")]: text("password") };
}

/** The passwords of all users, and all text that needs no right to read Secrets: objects, events, logs. */
async function secretsAndTexts({ world, etcd }: Stage): Promise<{ secrets: readonly string[]; text: string }> {
  const kinds = [EtcdCluster, ServiceBinding, Event, Pod, Service, PodDisruptionBudget] as const;
  const objects: KubeObject[] = [];
  for (const kind of kinds) objects.push(...(await world.list<KubeObject>(kind)));
  const lines = world.host.lines.map(({ message, fields }) => [message, fields]);
  const all = etcd.members("orders")[0]?.data.auth.users ?? {};
  const secrets = Object.values(all).map(({ password }) => password);
  return { secrets, text: JSON.stringify([objects, lines, world.trace]) };
}

/** Each secret as it is and in base64. */
function expectHidden(secrets: readonly string[], text: string): void {
  for (const secret of secrets)
    for (const spelling of [secret, Buffer.from(secret).toString("base64")])
      expect(text.includes(spelling), `the text contains ${spelling}`).toBe(false);
}

describe("authentication", () => {
  test.each(["Enabled", "Disabled"] as const)(
    "is on with TLS %s, and the operator still changes members",
    async (mode) => {
      await scenario(1, async (stage) => {
        const { world, etcd } = stage;
        await bootstrap(stage, { ...auth, tls: { mode } });
        expect(etcd.members("orders").every(({ data }) => data.auth.enabled)).toBe(true);
        expect((await world.get(EtcdCluster, "orders")).status?.auth).toEqual({ rootSecret: "orders-root" });
        await world.patch(EtcdCluster, "orders", { spec: { size: 5 } });
        await world.settled();
        await world.restartOperator();
        await world.patch(EtcdCluster, "orders", { spec: { size: 3, version: "3.5.16" } });
        await world.settled({ within: minutes(5) });
        await expectHealthy(stage);
        await world.expectQuiet();
      })();
    },
  );

  test(
    "is turned on again when another client turns it off",
    scenario(2, async (stage) => {
      const { world, etcd } = stage;
      await bootstrap(stage, auth);
      const [member] = etcd.members("orders");
      await world.wait(
        etcd.users.disable(member?.launch.podIp === undefined ? "" : `http://${member.launch.podIp}:2379`),
      );
      await world.run(minutes(1));
      expect(etcd.members("orders").every(({ data }) => data.auth.enabled)).toBe(true);
    }),
  );

  test.each(["3.4.23", "3.5.35", "3.6.16"])(
    "of %s: the operator gets in with the certificate of root when the data have another password",
    async (version) => {
      await scenario(3, async (stage) => {
        const { world } = stage;
        await bootstrap(stage, { ...auth, version, tls: { mode: "Enabled" } });
        await world.delete(Secret, "orders-root");
        await world.restartOperator();
        await world.run(minutes(1));
        expect((await world.get(EtcdCluster, "orders")).status?.auth).toEqual({ rootSecret: "orders-root" });
        await world.patch(EtcdCluster, "orders", { spec: { size: 5 } });
        await world.settled();
        await expectHealthy(stage);
      })();
    },
  );
});

/** Deleted while no operator runs that knows the password. */
async function loseRootSecret({ world }: Stage): Promise<void> {
  world.stopOperator();
  await world.delete(Secret, "orders-root");
  await world.restartOperator();
  await world.run(minutes(1));
}

describe("the Secret of root that another client deletes", () => {
  test.each(["Enabled", "Disabled"] as const)("comes back at once with the same login, with TLS %s", async (mode) => {
    await scenario(9, async (stage) => {
      const { world } = stage;
      await bootstrap(stage, { ...auth, version: "3.6.16", tls: { mode } });
      const { data, type } = await world.get(Secret, "orders-root");
      await world.delete(Secret, "orders-root");
      const isBack = async (): Promise<boolean> =>
        (await world.list(Secret)).some(({ metadata }) => metadata.name === "orders-root");
      await world.until("the Secret", isBack, { within: seconds(3) });
      await world.settled();
      const secret = await world.get(Secret, "orders-root");
      expect(secret).toMatchObject({ data, type });
      expect(secret.metadata.ownerReferences).toMatchObject([{ kind: "EtcdCluster", name: "orders" }]);
      expect((await world.list(Event)).map(({ reason }) => reason)).toContain("RootSecretRestored");
      await expectHealthy(stage);
      await world.patch(EtcdCluster, "orders", { spec: { size: 5 } });
      await world.settled();
      await expectHealthy(stage);
      await world.expectQuiet();
    })();
  });

  test(
    "is asked for in the conditions when nobody can bring it back, and counts once a user has made it",
    scenario(10, async (stage) => {
      const { world } = stage;
      await bootstrap(stage, auth);
      const { data = {}, type = "" } = await world.get(Secret, "orders-root");
      await loseRootSecret(stage);
      const degraded = conditionOf(await world.get(EtcdCluster, "orders"), "Degraded");
      expect(degraded).toMatchObject({ status: "True", reason: "RootLoginLost" });
      expect(degraded?.message).toContain(
        'Secret "orders-root" is gone, and the operator does not know the password of root that was in it: create it with type kubernetes.io/basic-auth, the label etcd.setpoint.dev/cluster=orders',
      );
      expect((await world.get(EtcdCluster, "orders")).status?.waitingFor?.what).toBe(degraded?.message);
      const labels = { "etcd.setpoint.dev/cluster": "orders" };
      await world.apply(Secret({ name: "orders-root", labels, type, data }));
      await world.run(seconds(3));
      await expectHealthy(stage);
      expect((await world.get(EtcdCluster, "orders")).status?.auth).toEqual({ rootSecret: "orders-root" });
      await world.expectQuiet();
    }),
  );

  test.each(["Enabled", "Disabled"] as const)(
    "counts when another client changes its password, with TLS %s",
    async (mode) => {
      await scenario(11, async (stage) => {
        const { world, etcd } = stage;
        await bootstrap(stage, { ...auth, tls: { mode } });
        await world.patch(Secret, "orders-root", { data: { password: Buffer.from("chosen").toString("base64") } });
        await world.run(seconds(5));
        const present = await world.get(EtcdCluster, "orders");
        const { password } = etcd.members("orders")[0]?.data.auth.users["root"] ?? {};
        expect(password === "chosen").toBe(mode === "Enabled");
        expect(conditionOf(present, "Degraded")?.reason).toBe(mode === "Enabled" ? "AllHealthy" : "RootLoginLost");
      })();
    },
  );
});

describe("a ServiceBinding", () => {
  test(
    "has a user that is rotated with an overlap, survives a restart of the operator, and is dropped with the binding",
    scenario(4, async (stage) => {
      const { world } = stage;
      await bootstrap(stage, auth);
      await world.apply(binding());
      await world.run(1);
      await world.restartOperator();
      await world.settled();
      const first = await login(stage);
      expect(users(stage)).toEqual(first);
      await world.patch(ServiceBinding, "shop", { spec: { rotation: { request: "leaked" } } });
      await world.run(minutes(1));
      const second = await login(stage);
      expect(users(stage)).toEqual({ ...first, ...second });
      await world.run(minutes(7));
      expect(users(stage)).toEqual(second);
      await world.delete(ServiceBinding, "shop");
      await world.settled();
      expect(users(stage)).toEqual({});
    }),
  );

  test(
    "says what to set when the cluster asks for no login, and goes on when it is set",
    scenario(5, async (stage) => {
      const { world } = stage;
      await bootstrap(stage);
      await world.apply(binding());
      await world.run(minutes(1));
      const waiting = conditionOf(await world.get(ServiceBinding, "shop"), "Ready");
      expect(waiting).toMatchObject({ status: "False", reason: "UsersUnavailable" });
      expect(waiting?.message).toContain("set spec.auth.enabled to true");
      await world.patch(EtcdCluster, "orders", { spec: auth });
      await world.run(minutes(2));
      expect(conditionOf(await world.get(ServiceBinding, "shop"), "Ready")?.status).toBe("True");
      expect(users(stage)).toEqual(await login(stage));
    }),
  );

  test(
    "with rights that etcd does not have names them, and makes no user",
    scenario(6, async (stage) => {
      const { world } = stage;
      await bootstrap(stage, auth);
      await world.apply(binding({ "/shop/": "all" }));
      await world.run(minutes(2));
      const { message } = conditionOf(await world.get(ServiceBinding, "shop"), "Ready") ?? {};
      expect(message).toContain('rights["/shop/"] "all": expected read, write or readwrite');
      expect(users(stage)).toEqual({});
    }),
  );

  test(
    "names the Secret of root when nobody can bring it back",
    scenario(8, async (stage) => {
      const { world } = stage;
      await bootstrap(stage, auth);
      await loseRootSecret(stage);
      await world.apply(binding());
      await world.run(minutes(2));
      const { message } = conditionOf(await world.get(ServiceBinding, "shop"), "Ready") ?? {};
      expect(message).toContain('authentication is not on yet: Secret "orders-root" is gone');
    }),
  );

  test(
    "puts no password into an object, an event or a log, also while etcd refuses the login",
    scenario(7, async (stage) => {
      const { world, etcd } = stage;
      await bootstrap(stage, auth);
      await world.apply(binding());
      await world.settled();
      const { secrets: first, text: quiet } = await secretsAndTexts(stage);
      expect(first.length).toBe(2);
      expectHidden(first, quiet);
      await world.patch(ServiceBinding, "shop", { spec: { rotation: { request: "leaked" } } });
      await world.run(minutes(1));
      // Another client takes the user away: the operator tries its password in vain, and says so.
      const [member] = etcd.members("orders");
      const [user = ""] = Object.keys(await login(stage));
      await world.wait(etcd.users.set(`http://${member?.launch.podIp}:2379`, user, undefined));
      const { secrets: second } = await secretsAndTexts(stage);
      await world.run(minutes(10));
      await world.restartOperator();
      await world.settled();
      const { secrets: last, text } = await secretsAndTexts(stage);
      expectHidden([...new Set([...first, ...second, ...last])], text);
      expect(text).toContain("cannot log in");
    }),
  );
});

test("the law about logins notices a user that another client drops", async () => {
  let etcd: EtcdModel;
  const drop = happens("another client drops the user", async (world) => {
    const [member] = etcd.members("orders");
    const user = Object.keys(member?.data.auth.users ?? {}).find((name) => name !== "root") ?? "";
    await world.wait(etcd.users.set(`http://${member?.launch.podIp}:2379`, user, undefined));
    await world.patch(ServiceBinding, "shop", { metadata: { labels: { seen: "yes" } } });
  });
  const { failures } = await explore({
    ...bindings.options,
    seed: 7,
    subject: () => bindings.subject((etcd = new EtcdModel())),
    worlds: [story("a user is dropped", bindings.cluster, bindings.binding, drop)],
    faults: [],
    seconds: 30,
  });
  expect(failures.map(({ rule }) => rule.oracle)).toContain("a published login works until its overlap has passed");
});

test.each<[situation: string, fault: Fault]>([
  [
    "when its creation is executed after it was dropped",
    { kind: "B3", at: { by: "etcd", write: "etcd user sb-*-2", nth: 1 }, lateMs: 2_000 },
  ],
  [
    "when the operator's clock is set back, and its deletion ends",
    { kind: "D4", at: { by: "etcd", write: "etcd drop user sb-*-1", nth: 1 }, byMs: -3_600_000 },
  ],
])("no user outlives its binding %s", async (_, fault) => {
  const schedule = { seed: 7, story: "a binding of etcd is revoked during a rotation", faults: [fault] };
  const found = await replaySchedule(
    bindings.subject,
    { ...bindings.options, worlds: bindings.worlds },
    JSON.stringify(schedule),
  );
  expect(found.broken).toEqual([]);
  expect(found.struck.map((each) => each.fault)).toEqual([fault]);
});
