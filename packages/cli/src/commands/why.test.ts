import { deskPorts, openAccess, serveStatus, type WhyReport } from "setpoint/process";
import { expect, test } from "vitest";
import { setpoint } from "../setpoint.fixture.ts";
import { whyText } from "./why.ts";

const nowMs = Date.parse("2026-01-01T00:10:00Z");

const report: WhyReport = {
  controller: "candy",
  object: { kind: "Candy", namespace: "default", name: "lolly" },
  isPresent: true,
  state: "delayed",
  since: "2026-01-01T00:09:30Z",
  until: "2026-01-01T00:11:30Z",
  failures: 0,
  pending: [],
  rememberedSince: "2026-01-01T00:00:00Z",
  runs: [
    {
      ...{ reconcileID: "r2", startedAt: "2026-01-01T00:09:30Z", durationMs: 12, moreCauses: 1, moreWrites: 0 },
      causes: [
        {
          change: "changed",
          kind: "Candy",
          namespace: "default",
          name: "lolly",
          at: "2026-01-01T00:09:29Z",
          writer: "kubectl-edit",
        },
        {
          ...{
            change: "added",
            kind: "ConfigMap",
            namespace: "default",
            name: "lolly-mint",
            at: "2026-01-01T00:09:29Z",
          },
          ownRun: { controller: "candy", object: "default/lolly", reconcileID: "r1" },
        },
      ],
      ...{ result: "requeue_after", reason: "the sugar is still hot", nextTryAt: "2026-01-01T00:11:30Z" },
      writes: [
        { method: "PATCH", path: "/api/v1/namespaces/default/configmaps/lolly-lime", outcome: "done", status: 201 },
        {
          method: "PATCH",
          path: "/apis/example.com/v1/namespaces/default/candies/lolly/status",
          outcome: "refused",
          status: 409,
        },
      ],
    },
    {
      ...{
        reconcileID: "r1",
        startedAt: "2026-01-01T00:01:00Z",
        durationMs: 3,
        moreCauses: 0,
        moreWrites: 0,
        writes: [],
      },
      ...{ causes: [], result: "success" },
    },
  ],
  conditions: [
    {
      type: "Ready",
      status: "False",
      reason: "Cooling",
      message: "two of three",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    },
  ],
};

test("setpoint why says in sentences why an object ran, what was done, what is waited for and until when", () => {
  expect(whyText(report, nowMs)).toBe(`Candy default/lolly, reconciled by the controller "candy"

Waiting for 30 s: the sugar is still hot. Next run in 90 s, or at the next change.

Last run 30 s ago, took 12 ms (r2), because
  Candy default/lolly was changed by kubectl-edit, 31 s ago
  ConfigMap default/lolly-mint was added by this operator, for default/lolly, 31 s ago
  and of 1 more changes
Writes:
  PATCH default/configmaps/lolly-lime → 201
  refused: PATCH default/candies/lolly/status → 409
Result: the sugar is still hot

Before that:
  9 min ago: at the start or at its requeue time; no write

Conditions:
  Ready is False for 10 min (Cooling: two of three)
`);
});

test.each([
  [{ state: "idle" }, "Idle. Next run at the next change."],
  [{ state: "idle", isPresent: false }, "Nothing to do until the object exists."],
  [{ state: "running", since: "2026-01-01T00:09:50Z" }, "Reconciling for 10 s."],
  [
    { state: "settling", since: "2026-01-01T00:09:50Z" },
    "Waiting for 10 s until the cache shows the writes of the last run.",
  ],
  [{ state: "standby" }, "This process is a standby. Ask the leader."],
  [{ state: "elsewhere" }, "Another shard owns this object. Ask that process."],
  [{ state: "delayed", failures: 3 }, "The last 3 runs in a row failed: the sugar is still hot. Next retry in 90 s."],
  [{ held: "it is paused by an annotation" }, "Held: it is paused by an annotation"],
  [{ otherControllers: ["taster"] }, "Other controllers reconcile it too; use --controller taster."],
  [{ runs: [] }, "Its last run is not in memory: it was before 2026-01-01T00:00:00Z, or in another process."],
  [{ askedFor: { kind: "ConfigMap", name: "lolly-mint" } }, "ConfigMap lolly-mint belongs to it."],
] as const)("setpoint why tells %j apart", (part, sentence) => {
  expect(whyText({ ...report, ...part }, nowMs)).toContain(sentence);
});

test("setpoint why asks the operator at the URL, and says what to do when nobody answers", async () => {
  const asked: unknown[] = [];
  const manager = {
    healthz: () => ({ ok: true, checks: [] }),
    readyz: () => ({ ok: true, checks: [] }),
    metrics: () => "",
    why: (query: unknown) => (asked.push(query), Promise.resolve(report)),
  };
  let url: string;
  {
    await using server = await serveStatus({ manager, address: "127.0.0.1", port: 0, access: openAccess });
    url = `http://127.0.0.1:${server.port}`;
    const told = await setpoint("why", "candy", "lolly", "-n", "default", "--url", url);
    expect(told.out).toContain("Candy default/lolly, reconciled by");
    expect(told.code).toBe(0);
    const json = await setpoint("why", "candy/lolly", "--url", url, "--json");
    expect(json.out).toContain('"controller": "candy"');
    expect(json.code).toBe(0);
  }
  expect(asked).toEqual([
    { kind: "candy", name: "lolly", namespace: "default" },
    { kind: "candy", name: "lolly" },
  ]);
  const nobody = await setpoint("why", "candy", "lolly", "--url", url);
  expect(nobody.err).toContain("no operator listens there");
  expect(nobody.err).toContain("--pod NAMESPACE/NAME");
  expect(nobody.code).toBe(1);
  expect((await setpoint("why", "candy", "lolly", "--pod", "ops/")).code).not.toBe(0);
  expect((await setpoint("why", "candy")).code).toBe(2);
});

test("24 2.7: setpoint why with several operators asks them all, and prints each that knows the object", async () => {
  const managerOf = (controller: string | undefined) => ({
    healthz: () => ({ ok: true, checks: [] }),
    readyz: () => ({ ok: true, checks: [] }),
    metrics: () => "",
    why: () => Promise.resolve(controller === undefined ? undefined : { ...report, controller }),
  });
  await using servers = new AsyncDisposableStack();
  /** Each on a port of its own, as `setpoint run` takes one. */
  const serve = async (controller: string | undefined): Promise<void> => {
    for (const port of deskPorts) {
      try {
        const manager = managerOf(controller);
        servers.use(await serveStatus({ manager, address: "127.0.0.1", port, access: openAccess }));
        return;
      } catch {
        // Another program has the port.
      }
    }
  };
  await serve(undefined);
  const unknown = await setpoint("why", "candy", "lolly");
  expect(unknown.err).toContain("no controller here reconciles candy");
  expect(unknown.code).toBe(1);
  await serve("candy");
  const one = await setpoint("why", "candy", "lolly");
  expect(one.out).toContain('reconciled by the controller "candy"');
  await serve("taster");
  const both = await setpoint("why", "candy", "lolly");
  expect(both.out).toContain('reconciled by the controller "candy"');
  expect(both.out).toContain('reconciled by the controller "taster"');
  const json = await setpoint("why", "candy", "lolly", "--json");
  expect(JSON.parse(json.out)).toMatchObject([{ controller: "candy" }, { controller: "taster" }]);
});
