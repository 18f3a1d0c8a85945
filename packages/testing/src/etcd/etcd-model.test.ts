/** The model says what a real etcd 3.4 was measured to say. */
import { simulatedHost, type SimulatedHost } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import type { Launch, Program, SimulatedVolume } from "../program-model.ts";
import { EtcdModel } from "./etcd-model.ts";

interface Process extends Program {
  readonly endpoint: string;
  readonly volume: SimulatedVolume;
  exit: { readonly code: number; readonly message: string } | undefined;
}

interface Bench {
  readonly host: SimulatedHost;
  readonly etcd: EtcdModel;
  /** Lets time pass until the promise is done. */
  wait<T>(this: void, promise: Promise<T>): Promise<T>;
  idOf(this: void, process: Process): Promise<string>;
  start(
    this: void,
    name: string,
    options: {
      readonly cluster: readonly string[];
      readonly state?: string;
      readonly volume?: SimulatedVolume;
      readonly version?: string;
    },
  ): Process;
}

const urlOf = (name: string): string => `http://${name}.etcd.default.svc:2380`;

function createBench(seed = 1): Bench {
  const host = simulatedHost(seed);
  const etcd = new EtcdModel();
  etcd.attach(host);
  let addresses = 0;
  return {
    host,
    etcd,
    wait: (promise) => host.clock.wait(promise),
    idOf: async ({ endpoint }) => (await host.clock.wait(etcd.status(endpoint))).memberId,
    start(name, { cluster, state = "new", volume = { id: name, files: new Map() }, version = "3.4.23" }) {
      const podIp = `10.0.0.${++addresses}`;
      const initialCluster = cluster.map((each) => `${each}=${urlOf(each)}`).join(",");
      const options = {
        name,
        "data-dir": "/data/etcd",
        "initial-advertise-peer-urls": urlOf(name),
        "initial-cluster": initialCluster,
        "initial-cluster-state": state,
      };
      const started = { endpoint: `http://${podIp}:2379`, volume, exit: undefined as Process["exit"] };
      const launch: Launch = {
        host,
        image: `registry/etcd:v${version}`,
        command: ["etcd", ...Object.entries(options).map(([option, value]) => `--${option}=${value}`)],
        environment: {},
        namespace: "default",
        podName: name,
        podIp,
        hostNames: [`${name}.etcd.default.svc`],
        volumes: new Map([["/data", volume]]),
        exited: (code, message = "") => (process.exit = { code, message }),
        ready: () => {},
      };
      const program = etcd.start(launch);
      const process: Process = Object.assign(started, {
        terminate: () => program.terminate(),
        kill: () => program.kill(),
      });
      return process;
    },
  };
}

const three = ["a", "b", "c"] as const;

/** Three voters that have been connected for long enough to be changed. */
async function threeVoters(): Promise<Bench & Readonly<Record<(typeof three)[number], Process>>> {
  const bench = createBench();
  const start = (name: string): Process => bench.start(name, { cluster: three });
  const voters = { a: start("a"), b: start("b"), c: start("c") };
  await bench.host.clock.run(10_000);
  return { ...bench, ...voters };
}

test("no member may be added until all voters have been connected for five seconds", async () => {
  const { host, etcd, start, wait } = createBench();
  const a = start("a", { cluster: three });
  start("b", { cluster: three });
  start("c", { cluster: three });
  await host.clock.run(3_000);
  await expect(wait(etcd.addLearner(a.endpoint, urlOf("d")))).rejects.toThrow("etcdserver: unhealthy cluster");
  await host.clock.run(5_000);
  await wait(etcd.addLearner(a.endpoint, urlOf("d")));
  expect(
    (await wait(etcd.memberList(a.endpoint))).members.map(({ name, isLearner }) => [name, isLearner]),
  ).toContainEqual(["", true]);
});

test("with one of three down, only the one that is down may be removed", async () => {
  const { host, etcd, wait, idOf, a, b, c } = await threeVoters();
  const dead = await idOf(c);
  c.kill();
  await host.clock.run(10_000);
  await expect(wait(etcd.addLearner(a.endpoint, urlOf("d")))).rejects.toThrow("unhealthy cluster");
  await expect(wait(etcd.remove(a.endpoint, await idOf(b)))).rejects.toThrow("unhealthy cluster");
  await wait(etcd.remove(a.endpoint, dead));
  expect((await wait(etcd.memberList(a.endpoint))).members.length).toBe(2);
});

test("there is one learner at most, and it is promoted only when it is in sync", async () => {
  const { host, etcd, start, wait, a } = await threeVoters();
  await wait(etcd.addLearner(a.endpoint, urlOf("d")));
  await expect(wait(etcd.addLearner(a.endpoint, urlOf("e")))).rejects.toThrow("too many learner members");
  const learner = (await wait(etcd.memberList(a.endpoint))).members.find(({ isLearner }) => isLearner)?.id ?? "";
  await expect(wait(etcd.promote(a.endpoint, learner))).rejects.toThrow(
    "can only promote a learner member which is in sync with leader",
  );
  start("d", { cluster: [...three, "d"], state: "existing" });
  await host.clock.run(2_000);
  await wait(etcd.promote(a.endpoint, learner));
  await expect(wait(etcd.promote(a.endpoint, learner))).rejects.toThrow("can only promote a learner member");
});

test("without a majority nothing is read, written or changed", async () => {
  const { host, etcd, wait, a, b, c } = await threeVoters();
  b.kill();
  c.kill();
  await host.clock.run(5_000);
  await expect(wait(etcd.put(a.endpoint, "k", "v"))).rejects.toThrow("request timed out");
  await expect(wait(etcd.memberList(a.endpoint))).rejects.toThrow("request timed out");
  expect((await wait(etcd.status(a.endpoint))).leaderId).toBe("");
});

test("what was acknowledged survives every death that leaves the volumes", async () => {
  const { host, etcd, start, wait, a, b, c } = await threeVoters();
  await wait(etcd.put(a.endpoint, "k", "v"));
  for (const member of [a, b, c]) member.kill();
  const again = (name: string, { volume }: Process): Process =>
    start(name, { cluster: [name], state: "existing", volume });
  const [first] = [again("a", a), again("b", b), again("c", c)];
  await host.clock.run(5_000);
  expect((await wait(etcd.keys(first.endpoint))).get("k")).toBe("v");
});

test("a member that was started before is not bootstrapped again, one that was removed ends", async () => {
  const { host, etcd, start, wait, idOf, a, b } = await threeVoters();
  const id = await idOf(b);
  b.kill();
  const again = start("b", { cluster: three });
  await host.clock.run(1_000);
  expect(again.exit).toMatchObject({ code: 1, message: expect.stringContaining("has already been bootstrapped") });
  await wait(etcd.remove(a.endpoint, id));
  const removed = start("b", { cluster: ["b"], state: "existing", volume: b.volume });
  await host.clock.run(1_000);
  expect(removed.exit).toMatchObject({ code: 1, message: "the member has been permanently removed from the cluster" });
});

test("a member that joins with another list of members ends", async () => {
  const { host, etcd, start, wait, a } = await threeVoters();
  await wait(etcd.addLearner(a.endpoint, urlOf("d")));
  const joining = start("d", { cluster: ["a", "d"], state: "existing" });
  await host.clock.run(1_000);
  expect(joining.exit?.message).toContain("member count is unequal");
});

test("a member that joins while there is no majority serves nobody before that is back and knows its name", async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const { host, etcd, start, wait } = createBench(seed);
    const voters = ["a", "b"].map((name) => start(name, { cluster: ["a", "b"] }));
    await host.clock.run(10_000);
    const [first] = voters as [Process, Process];
    const { leaderId, memberId } = await wait(etcd.status(first.endpoint));
    const [leader, follower] = leaderId === memberId ? voters : voters.toReversed();
    if (leader === undefined || follower === undefined) throw new Error("there are two voters");
    await wait(etcd.addLearner(leader.endpoint, urlOf("c")));
    follower.kill();
    const joining = start("c", { cluster: ["a", "b", "c"], state: "existing" });
    await host.clock.run(200);
    start(follower === first ? "a" : "b", { cluster: ["a", "b"], volume: follower.volume });
    const answers = (): Promise<boolean> =>
      etcd.status(joining.endpoint).then(
        () => true,
        () => false,
      );
    while (!(await wait(answers()))) await host.clock.run(10);
    const { members } = await wait(etcd.memberList(leader.endpoint));
    expect(members.map(({ name }) => name).sort()).toEqual(["a", "b", "c"]);
  }
});

test("data of a cluster that was raised to 3.5 is not opened by 3.4", async () => {
  const { host, start } = createBench();
  const raised = { cluster: three, version: "3.5.16" };
  const [first] = [start("a", raised), start("b", raised), start("c", raised)];
  await host.clock.run(5_000);
  first.kill();
  const old = start("a", { cluster: ["a"], volume: first.volume });
  await host.clock.run(1_000);
  expect(old.exit?.message).toContain("cluster cannot be downgraded");
});

test("stopping a member that the majority needs is remembered as a violation", async () => {
  const { host, etcd, b, c } = await threeVoters();
  b.terminate();
  await host.clock.run(5_000);
  expect(etcd.violations).toEqual([]);
  c.terminate();
  expect(etcd.violations).toEqual(["Stopping c leaves 1 of 3 voters, fewer than the quorum of 2"]);
});

test("a majority without its data is beyond repair, and nothing less is", async () => {
  const { host, etcd, a, b, c } = await threeVoters();
  a.kill();
  b.kill();
  await host.clock.run(10_000);
  expect(etcd.beyondRepair).toBeUndefined();
  a.volume.files.clear();
  expect(etcd.beyondRepair).toBeUndefined();
  b.volume.files.clear();
  expect(etcd.beyondRepair).toEqual({ sentence: "the data of a, b are gone, of 3 voters", membersLost: 2 });
  // What a process has open is there for as long as it runs.
  c.volume.files.clear();
  expect(etcd.beyondRepair?.membersLost).toBe(2);
});

test("only who stops a member in the moment of a surprise is excused", async () => {
  const { host, etcd, a, b, c } = await threeVoters();
  a.kill();
  etcd.surprised();
  b.terminate();
  expect(etcd.violations).toEqual([]);
  await host.clock.run(10_000);
  c.terminate();
  expect(etcd.violations).toEqual([]);
  const other = await threeVoters();
  other.a.kill();
  other.etcd.surprised();
  await other.host.clock.run(100);
  other.b.terminate();
  expect(other.etcd.violations).toEqual(["Stopping b leaves 1 of 3 voters, fewer than the quorum of 2"]);
});
