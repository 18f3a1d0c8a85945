/**
 * Real PostgreSQL under a writer: settings that a reload brings, those that need a restart, limits that the
 * primary or the replicas must have first, values that PostgreSQL refuses, access rules, and a new image.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "./eventually.ts";
import { planOf } from "./plan-of.ts";
import { type Manifest, PostgresPlayground } from "./playground.ts";

const name = "tuned";
const instances = [1, 2, 3].map((number) => `${name}-${number}`);
/** Three restarts, one after the other, each with its wait for the log. */
const rolloutMsMax = 300_000;

let playground: PostgresPlayground;
beforeAll(async () => {
  playground = await PostgresPlayground.open();
});
afterAll(() => playground?.[Symbol.asyncDispose]());

function cluster(named: string, spec: object): Manifest {
  return {
    apiVersion: "postgres.setpoint.dev/v1",
    kind: "PostgresCluster",
    metadata: { name: named },
    // A machine that stalls is no reason for a failover, which would hide the switchover.
    spec: { version: "15", storage: { size: "1Gi" }, failover: { silenceSeconds: 60 }, ...spec },
  };
}

/** Parameters are merged, and one that is null goes. */
async function change(spec: object, of = name): Promise<void> {
  await playground.kubectl.ok(`patch postgrescluster ${of} --type=merge -p`, [JSON.stringify({ spec })]);
}

function setParameters(parameters: Readonly<Record<string, string | null>>): Promise<void> {
  return change({ parameters });
}

async function onEach(statement: string): Promise<readonly string[]> {
  const answers = instances.map((each) => playground.sqlIn(each, "app", statement));
  return (await Promise.all(answers)).map((each) => each.trim());
}

/** All instances run with a setting, and the cluster is at rest. */
async function haveAll(setting: string, value: string): Promise<void> {
  await eventually(async () => {
    const values = await onEach(`show ${setting}`);
    if (values.some((each) => each !== value)) throw new Error(`${setting} is ${values.join(", ")}`);
    await playground.settled(name, 0);
  }, rolloutMsMax);
}

/** When the servers started: another moment is another process. */
function starts(): Promise<readonly string[]> {
  return eventually(() => onEach("select pg_postmaster_start_time()"), rolloutMsMax);
}

async function primaryName(): Promise<string> {
  return (await playground.get(name)).status?.primary ?? "";
}

/** Whether an instance has stopped as a primary that nobody confirmed, since its container started. */
async function hasStalled(instance: string): Promise<boolean> {
  const log = await playground.kubectl.ok(`logs ${instance} -c postgres`);
  return log.includes("nor a majority of the instances confirms that this is the primary");
}

async function acceptance(): Promise<{ readonly status?: string; readonly message?: string }> {
  return (await playground.get(name)).status?.conditions?.find(({ type }) => type === "Accepted") ?? {};
}

async function accepted(): Promise<void> {
  await expect.poll(acceptance, { timeout: 60_000 }).toMatchObject({ status: "True" });
}

test("a reload restarts no server, and a restart of the only one is in its pod", async () => {
  const alone = "alone";
  await playground.create(cluster(alone, { instances: 1 }));
  const start = (): Promise<string> =>
    playground.sqlIn(`${alone}-1`, "app", "select current_setting('work_mem'), pg_postmaster_start_time()");
  const uid = (): Promise<string> => playground.kubectl.ok(`get pod ${alone}-1 -o jsonpath={.metadata.uid}`);
  // The instance is ready before its first database is there.
  const [, began] = (await eventually(start, 60_000)).trim().split("|");
  const pod = await uid();
  await change({ parameters: { work_mem: "8MB" } }, alone);
  await eventually(async () => expect((await start()).trim()).toBe(`8MB|${began}`), 60_000);

  await change({ parameters: { shared_buffers: "64MB" } }, alone);
  const buffers = (): Promise<string> => playground.sqlIn(`${alone}-1`, "app", "show shared_buffers");
  await eventually(async () => expect(await buffers()).toBe("64MB\n"), rolloutMsMax);
  expect((await start()).trim()).not.toBe(`8MB|${began}`);
  expect(await uid()).toBe(pod);
  await playground.remove(alone);
});

test("a setting that needs a restart reaches replicas first, and the primary by switchover", async () => {
  await playground.create(cluster(name, { synchronous: { number: 1 } }));
  await playground.startWriter(name, "15");
  const [before, primary] = [await starts(), await primaryName()];
  const from = (await playground.acknowledged(name)).length;
  await setParameters({ shared_buffers: "64MB" });
  await haveAll("shared_buffers", "64MB");
  // A machine that stalls for a lease's time has the primary stop, and restart, by itself.
  if (!(await hasStalled(primary)))
    expect((await playground.get(name)).status?.lastSwitchover).toMatchObject({ from: primary });
  for (const [at, start] of (await starts()).entries()) expect(start).not.toBe(before[at]);
  console.log(`a restart of all servers: writes paused for at most ${await playground.longestPause(name, from)} s`);
});

test("the plan of a file says what a change restarts, and nothing happens", async () => {
  const before = await playground.get(name);
  const spec = { parameters: { work_mem: "16MB", shared_buffers: "96MB", max_connections: "80" } };
  const text = await planOf(cluster(name, { synchronous: { number: 1 }, ...spec }), playground.kubectl.folder);
  const steps = [...text.matchAll(/^ {4}\d+\. (\w+)/gm)].map(([, action]) => action);
  expect(steps, text).toEqual(["Reload", ...Array.from({ length: 5 }, () => "RestartServer")]);
  expect(text).toMatch(/Reload: all servers read their settings again: work_mem \(default\) becomes 16MB/);
  expect(text).toMatch(/RestartServer \S+: shared_buffers 64MB becomes 96MB\n/);
  expect(text).toMatch(/RestartServer \S+: max_connections 100 becomes 80, shared_buffers 64MB becomes 96MB\n/);
  expect(text).toContain("interruption: reads and writes of the primary fail until it serves again");
  expect((await playground.get(name)).spec).toEqual(before.spec);
});

test("max_connections is raised on replicas first, and lowered on the primary first, which stays", async () => {
  await setParameters({ max_connections: "130" });
  await haveAll("max_connections", "130");
  const primary = await primaryName();
  const from = (await playground.acknowledged(name)).length;
  await setParameters({ max_connections: "60", work_mem: "9MB" });
  await haveAll("max_connections", "60");
  await haveAll("work_mem", "9MB");
  if (!(await hasStalled(primary))) expect(await primaryName()).toBe(primary);
  console.log(`a lower limit: writes paused for at most ${await playground.longestPause(name, from)} s`);
});

test("a value that PostgreSQL refuses is named with what it expects, and the settings from before stay", async () => {
  const before = await starts();
  await setParameters({ work_mem: "a lot", random_page_cost: "2" });
  await expect.poll(acceptance, { timeout: 60_000 }).toMatchObject({
    status: "False",
    message: expect.stringMatching(
      /^spec\.parameters\[work_mem\]: invalid value for parameter "work_mem": "a lot"; expected a whole number from 64 to /,
    ),
  });
  // Nothing of the change, and a server that has to start does.
  expect(await onEach("show random_page_cost")).toEqual(["4", "4", "4"]);
  const primary = await primaryName();
  const replica = instances.find((each) => each !== primary) ?? "";
  await playground.kubectl.ok(`delete pod ${replica} --wait=false`);
  const at = instances.indexOf(replica);
  await eventually(async () => expect((await starts())[at]).not.toBe(before[at]), rolloutMsMax);
  await playground.settled(name);
  expect(await onEach("show work_mem")).toEqual(["9MB", "9MB", "9MB"]);

  await setParameters({ work_mem: "9MB", random_page_cost: null, shared_preload_libraries: "nowhere" });
  await expect.poll(acceptance, { timeout: 60_000 }).toMatchObject({
    message: expect.stringContaining('spec.parameters[shared_preload_libraries]: could not access file "nowhere"'),
  });
  // What only a start shows: a replica tries it first, and goes back.
  await setParameters({ shared_preload_libraries: null, huge_pages: "on" });
  await expect.poll(acceptance, { timeout: rolloutMsMax }).toMatchObject({
    message: expect.stringMatching(/^spec\.parameters: the server does not start: FATAL: +could not map/),
  });
  await setParameters({ huge_pages: null });
  await accepted();
  await playground.settled(name, rolloutMsMax);
  if (!(await hasStalled(primary))) expect(await primaryName()).toBe(primary);
});

test("access rules let a user in and lock it out, and one that PostgreSQL cannot read changes nothing", async () => {
  const login = (): Promise<string> => playground.sql(name, "rw", "select current_user");
  expect(await eventually(login, 60_000)).toBe("app\n");
  await change({ accessRules: ["hostssl app app all reject"] });
  const isLockedOut = (): Promise<void> =>
    eventually(() => expect(login()).rejects.toThrow(/pg_hba\.conf rejects connection/), 60_000);
  await isLockedOut();
  await change({ accessRules: ["hostssl app app 10.0.0.1/40 reject"] });
  await expect.poll(acceptance, { timeout: 60_000 }).toMatchObject({
    status: "False",
    message: expect.stringMatching(/^spec\.accessRules\[0\]: invalid CIDR mask in address "10\.0\.0\.1\/40"/),
  });
  await isLockedOut();
  await change({ accessRules: null });
  await accepted();
  expect(await eventually(login, 60_000)).toBe("app\n");
});

/** Debian's package stands for both tags, so the version of PostgreSQL is the same. */
test("a new image reaches replicas first, and the primary hands over; one that cannot be pulled stops at a replica", async () => {
  const primary = await primaryName();
  const image = "docker.io/library/postgres:15-bookworm";
  await change({ image: "registry.invalid/postgres:15" });
  await expect
    .poll(async () => (await playground.get(name)).status?.waitingFor?.what, { timeout: 120_000 })
    .toMatch(/registry\.invalid\/postgres:15/);
  if (!(await hasStalled(primary))) expect(await primaryName()).toBe(primary);
  const from = (await playground.acknowledged(name)).length;
  await change({ image });
  await eventually(async () => {
    const images = await playground.kubectl.ok(
      `get pods -l postgres.setpoint.dev/cluster=${name} -o jsonpath={.items[*].spec.containers[?(@.name=="postgres")].image}`,
    );
    if (images.trim() !== [image, image, image].join(" ")) throw new Error(`The images are ${images}`);
    await playground.settled(name, 0);
  }, rolloutMsMax);
  expect(await primaryName()).not.toBe(primary);
  console.log(`a new image: writes paused for at most ${await playground.longestPause(name, from)} s`);
});

test("no acknowledged write is lost in all of this", async () => {
  const { count, missing, pause } = await playground.finish(name);
  console.log(`${count} acknowledged writes, ${missing.length} lost, the longest pause ${pause.toFixed(1)} s`);
  expect(missing).toEqual([]);
});

test.each([
  [{ parameters: { archive_command: "true" } }, /the operator sets archive_command, because failover/],
  [{ parameters: { include: "/etc/passwd" } }, /the operator sets include, because/],
  [{ image: "docker.io/library/postgres:17" }, /spec\.image: .*must have the major version of spec\.version/],
  [{ version: "17" }, /spec\.version: .*the major version cannot change/],
])("a change to %j is refused with the reason", async (spec, message) => {
  const { code, stderr } = await playground.kubectl.run(`patch postgrescluster ${name} --type=merge -p`, [
    JSON.stringify({ spec }),
  ]);
  expect(code).not.toBe(0);
  expect(stderr).toMatch(message);
});
