/**
 * Real PgBouncer before real PostgreSQL: clients write through it while the primary changes on request. No
 * statement may fail; those of a crash are counted.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "./eventually.ts";
import { InnerWorld, limitMs } from "./inner-world.ts";
import { PostgresPlayground } from "./playground.ts";

const cluster = "pooled";
const pooler = "pool";
const clients = 4;

let playground: PostgresPlayground;
let world: InnerWorld;
beforeAll(async () => {
  playground = await PostgresPlayground.open();
  await playground.create({
    apiVersion: "postgres.setpoint.dev/v1",
    kind: "PostgresCluster",
    metadata: { name: cluster },
    spec: {
      version: "15",
      instances: 3,
      storage: { size: "1Gi" },
      synchronous: { number: 1 },
      // A machine that is slow is no reason for another primary.
      failover: { silenceSeconds: 60 },
    },
  });
  world = new InnerWorld(playground, cluster);
  await world.apply("PostgresPooler", pooler, { parameters: { default_pool_size: "3" } });
  await world.condition("postgrespooler", pooler, "Ready", "True");
});
afterAll(() => playground?.[Symbol.asyncDispose]());

/** Some keep their session and send one statement after another; the last one connects for each statement. */
function clientsPod(): object {
  const script = `
export PGPASSWORD="$PASSWORD" PGUSER="$USERNAME"
to="host=${pooler}.default.svc dbname=app sslmode=require connect_timeout=60"
until psql "$to" -qc 'create table if not exists ledger (client int, n int, primary key (client, n))'; do sleep 0.5; done
statements() {
  n=$(cat /tmp/sent-$1)
  while [ ! -e /tmp/stop ]; do
    n=$((n+1)); echo $n >/tmp/sent-$1
    echo "insert into ledger values ($1, $n) returning 'ack $1 ' || n;"
    sleep 0.05
  done
}
keep() {
  echo 0 >/tmp/sent-$1
  while [ ! -e /tmp/stop ]; do statements $1 | psql "$to" -qAt 2>&1; done
  echo "ended $1"
}
for client in $(seq ${clients}); do keep $client & done
n=0
while [ ! -e /tmp/stop ]; do
  n=$((n+1))
  psql "$to" -qAtc "insert into ledger values (0, $n) returning 'ack 0 ' || n" 2>&1
done
wait
sleep infinity`;
  const from = (key: string): object => ({ valueFrom: { secretKeyRef: { name: `${cluster}-app`, key } } });
  const env = [
    { name: "USERNAME", ...from("username") },
    { name: "PASSWORD", ...from("password") },
  ];
  const container = { name: "clients", image: "docker.io/library/postgres:15", command: ["sh", "-c", script], env };
  const spec = { terminationGracePeriodSeconds: 0, securityContext: { runAsUser: 999 }, containers: [container] };
  return { apiVersion: "v1", kind: "Pod", metadata: { name: "clients" }, spec };
}

const inClients = (script: string): Promise<string> => playground.kubectl.ok("exec clients --", ["sh", "-c", script]);

interface Tally {
  readonly acknowledged: number;
  readonly failures: readonly string[];
}

async function tally(): Promise<Tally> {
  const lines = (await playground.kubectl.ok("logs clients")).split("\n").filter((line) => line !== "");
  // Lines of several clients may run into each other.
  const failures = lines.filter((line) => /error|fatal|warning|lost|closed/i.test(line));
  return { acknowledged: lines.filter((line) => /ack \d+ \d+$/.test(line)).length, failures };
}

async function switchover(kill: boolean): Promise<void> {
  const former = await world.primary();
  const to = [1, 2, 3].map((number) => `${cluster}-${number}`).find((each) => each !== former);
  await playground.kubectl.ok(`annotate postgrescluster ${cluster} postgres.setpoint.dev/switchover-to=${to}`);
  if (kill) await world.killOperator();
  await playground.settled(cluster, limitMs, former);
}

/** How often a primary has stopped itself, because a slow machine kept its lease from being renewed. */
async function fences(): Promise<number> {
  const instances = [1, 2, 3].map((number) => `${cluster}-${number}`);
  const logs = await Promise.all(instances.map((name) => playground.kubectl.ok(`logs ${name} -c postgres`)));
  return logs.join("").match(/received immediate shutdown request/g)?.length ?? 0;
}

/** One switchover: what failed, unless the primary stopped itself beside it. */
async function round(kill = false): Promise<readonly string[] | undefined> {
  const [fenced, { failures, acknowledged }] = [await fences(), await tally()];
  await switchover(kill);
  await writesGoOn();
  const after = await tally();
  const isDisturbed = (await fences()) > fenced;
  const failed = after.failures.slice(failures.length);
  const what = isDisturbed ? "not counted, because the primary stopped itself" : `${failed.length} failed`;
  console.log(
    `A switchover${kill ? " under a killed operator" : ""}: ${after.acknowledged - acknowledged} statements acknowledged, ${what}`,
  );
  return isDisturbed ? undefined : failed;
}

/** Until clients write again. */
async function writesGoOn(): Promise<void> {
  const { acknowledged } = await tally();
  await eventually(async () => {
    if ((await tally()).acknowledged < acknowledged + 20) throw new Error("The clients do not write");
  }, limitMs);
}

test("switchovers through the pooler fail no statement, and after a crash clients write on", async () => {
  await playground.apply(clientsPod());
  await eventually(writesGoOn, 3 * limitMs);
  const counted: (readonly string[])[] = [];
  for (let tries = 0; counted.length < 3 && tries < 6; tries++) {
    const failed = await round();
    if (failed !== undefined) counted.push(failed);
  }
  counted.push((await round(true)) ?? []);
  expect(counted.length).toBeGreaterThan(1);
  expect(counted.flat()).toEqual([]);

  const switched = await tally();
  await world.crash();
  await writesGoOn();
  const crashed = await tally();
  const failed = crashed.failures.length;
  console.log(
    `A crash: ${crashed.acknowledged - switched.acknowledged} statements acknowledged, ${failed} lines of failures`,
  );

  await inClients("touch /tmp/stop");
  await eventually(async () => {
    const ended = (await playground.kubectl.ok("logs clients")).match(/^ended/gm)?.length ?? 0;
    if (ended !== clients) throw new Error(`${ended} of ${clients} clients have ended`);
  }, limitMs);
  const { acknowledged } = await tally();
  const stored = Number(await world.sql("select count(*) from ledger", "app"));
  // A statement that failed at a crash may have been committed.
  expect(stored).toBeGreaterThanOrEqual(acknowledged);
});

test("nobody gets in as a superuser, as the pooler, or without TLS", async () => {
  const attempt = (text: string, host = `${pooler}.default.svc`): Promise<string> =>
    inClients(`psql "host=${host} dbname=postgres connect_timeout=5 ${text}" -Atc 'select 1' 2>&1 || true`);
  expect(await attempt("user=postgres password=x sslmode=require")).toMatch(/authentication failed|no such user/);
  expect(await attempt("user=setpoint_pooler password=x sslmode=require")).toMatch(
    /authentication failed|no such user/,
  );
  expect(await attempt("user=app sslmode=disable")).toMatch(/SSL required/);
  expect(await attempt("user=setpoint_pooler sslmode=require", `${cluster}-rw.default.svc`)).toMatch(
    /requires a valid client certificate/,
  );
  expect(await attempt("user=pgbouncer password=x sslmode=require").then((text) => text.includes("\n1\n"))).toBe(false);
});

test("settings change without a new pod or are refused by name, and the pods have a budget", async () => {
  await world.apply("PostgresPooler", pooler, { parameters: { auth_file: "/etc/passwd" } });
  await world.condition(
    "postgrespooler",
    pooler,
    "Accepted",
    "False",
    /spec\.parameters\[auth_file\]: the operator sets it/,
  );
  await world.apply("PostgresPooler", pooler, {
    poolMode: "session",
    parameters: { default_pool_size: "5" },
    instances: 3,
  });
  await world.condition("postgrespooler", pooler, "Ready", "True", /^3 pods/);
  expect(await playground.kubectl.ok(`get pdb ${pooler} -o jsonpath={.spec.minAvailable}`)).toBe("2");
  await playground.kubectl.ok(`delete postgrespooler ${pooler} --timeout=60s`);
  await eventually(async () => {
    const left = await playground.kubectl.ok(
      `get deployments,pods,services,pdb -l postgres.setpoint.dev/pooler=${pooler} -o name`,
    );
    if (left.trim() !== "") throw new Error(`Left: ${left}`);
  }, limitMs);
});
