/** Answers as a genuine API server 1.36.3 gives them. */
import { expect, test } from "vitest";
import { bootstrap } from "../assembly/bootstrap.ts";
import { builtinEndpoints } from "../assembly/builtin-endpoints.ts";
import { asking, startServer } from "../assembly/server.fixture.ts";

interface Seen {
  readonly message?: string;
  readonly reason?: string;
  readonly details?: { readonly causes?: readonly { readonly message: string }[]; readonly retryAfterSeconds?: number };
  readonly metadata: { readonly resourceVersion: string };
  readonly status?: Readonly<Record<string, unknown>>;
}

const pods = "/api/v1/namespaces/default/pods";
const budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
const ready = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
const unready = { phase: "Running", conditions: [{ type: "Ready", status: "False" }] };

/** A running pod `a` under the budget `b1`. */
async function start(podStatus: object = ready) {
  const { host, storage, server } = startServer();
  server.addEndpoints(builtinEndpoints({ host, storage, reader: server.reader }));
  await bootstrap({ storage, host });
  const ask = asking<Seen>(server, { username: "admin", groups: ["system:masters"] });
  const spec = { nodeName: "n", containers: [{ name: "c", image: "i" }] };
  await ask("POST", pods, { metadata: { name: "a", labels: { app: "a" } }, spec });
  const put = async (path: string, status: object): Promise<void> => {
    const { body } = await ask("GET", path);
    expect((await ask("PUT", `${path}/status`, { ...body, status })).code).toBe(200);
  };
  await put(`${pods}/a`, podStatus);
  const addBudget = (name: string, more: object = {}) =>
    ask("POST", budgets, { metadata: { name }, spec: { selector: { matchLabels: { app: "a" } }, ...more } });
  const evict = async (deleteOptions?: object, query?: Record<string, string>): Promise<string> => {
    const body = { metadata: { name: "a" }, ...(deleteOptions ? { deleteOptions } : {}) };
    const { code, body: answer } = await ask("POST", `${pods}/a/eviction`, body, query);
    const retry = answer.details?.retryAfterSeconds;
    const told = answer.details?.causes?.map(({ message }) => message).join() ?? answer.message ?? "";
    return [code, ...(retry === undefined ? [] : [`(${retry} s)`]), told].join(" ").trim();
  };
  const setBudget = (status: object) => put(`${budgets}/b1`, { observedGeneration: 1, ...status });
  return { ask, addBudget, setBudget, evict };
}

test("a budget that was not counted yet lets nobody go, and asks for ten seconds", async () => {
  const { addBudget, evict } = await start();
  await addBudget("b1");
  expect(await evict()).toBe("429 (10 s) The disruption budget b1 is still being processed by the server.");
});

test.each<[object, string]>([
  [{ currentHealthy: 1, desiredHealthy: 2 }, "The disruption budget b1 needs 2 healthy pods and has 1 currently"],
  [{ currentHealthy: 3, desiredHealthy: 2 }, "The disruption budget b1 does not allow evicting pods currently"],
  [
    {
      currentHealthy: 3,
      desiredHealthy: 2,
      conditions: [
        {
          type: "DisruptionAllowed",
          status: "False",
          reason: "SyncFailed",
          message: "oops",
          lastTransitionTime: "2026-01-01T00:00:00Z",
        },
      ],
    },
    "The disruption budget b1 does not allow evicting pods currently because it failed sync: oops",
  ],
])("an empty budget %j tells why", async (status, why) => {
  const { addBudget, setBudget, evict } = await start();
  await addBudget("b1");
  await setBudget({ disruptionsAllowed: 0, ...status });
  expect(await evict()).toBe(`429 ${why}`);
});

test("a pod under two budgets is an error of the server, without a reason", async () => {
  const { addBudget, evict } = await start();
  for (const name of ["b1", "b2"]) await addBudget(name);
  expect(await evict()).toBe(
    "500 This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
  );
});

test("an eviction records the pod, and the last one that is allowed says so; a dry run records nothing", async () => {
  const { ask, addBudget, setBudget, evict } = await start();
  await addBudget("b1");
  await setBudget({ disruptionsAllowed: 1, currentHealthy: 3, desiredHealthy: 2 });
  const status = async () => (await ask("GET", `${budgets}/b1`)).body.status;
  const before = await status();
  for (const [options, query] of [[{ dryRun: ["All"] }], [undefined, { dryRun: "All" }]] as const)
    expect(await evict(options, query)).toBe("201");
  expect(await evict({ preconditions: { uid: "another" } })).toContain("409");
  expect(await status()).toEqual(before);
  expect(await evict()).toBe("201");
  expect(await status()).toMatchObject({
    disruptionsAllowed: 0,
    disruptedPods: { a: expect.any(String) },
    conditions: [{ type: "DisruptionAllowed", status: "False", reason: "InsufficientPods", observedGeneration: 1 }],
  });
});

test.each<[string, object, object, string]>([
  ["an unready pod under a met budget", { currentHealthy: 2, desiredHealthy: 2 }, {}, "201"],
  ["an unready pod under an unmet budget", { currentHealthy: 1, desiredHealthy: 2 }, {}, "429"],
  [
    "an unready pod of an unmet budget that allows it",
    { currentHealthy: 1, desiredHealthy: 2 },
    { unhealthyPodEvictionPolicy: "AlwaysAllow" },
    "201",
  ],
])("%s", async (_, status, spec, code) => {
  const { addBudget, setBudget, evict } = await start(unready);
  await addBudget("b1", spec);
  await setBudget({ disruptionsAllowed: 0, ...status });
  expect((await evict()).slice(0, 3)).toBe(code);
});
