import { controller, startManager } from "@setpoint/runtime";
import { expect, test } from "vitest";
import { Candy, Fleet } from "./fleet.fixture.ts";

/**
 * controller-runtime's, client-go's and workqueue's names, on which dashboards are built. Not there: panics,
 * which a JavaScript program does not have beside errors; what only a request that is repeated makes.
 */
const knownNames = [
  "controller_runtime_active_workers",
  "controller_runtime_max_concurrent_reconciles",
  "controller_runtime_reconcile_errors_total",
  "controller_runtime_reconcile_time_seconds",
  "controller_runtime_reconcile_timeouts_total",
  "controller_runtime_reconcile_total",
  "controller_runtime_terminal_reconcile_errors_total",
  "leader_election_master_status",
  "rest_client_request_duration_seconds",
  "rest_client_requests_total",
  "workqueue_adds_total",
  "workqueue_depth",
  "workqueue_longest_running_processor_seconds",
  "workqueue_queue_duration_seconds",
  "workqueue_retries_total",
  "workqueue_unfinished_work_seconds",
  "workqueue_work_duration_seconds",
];

test("metrics have the names that the dashboards of controller-runtime look for", async () => {
  await using fleet = new Fleet(1);
  await fleet.wait(fleet.client.create(Candy, Candy({ name: "lolly", namespace: "default", spec: { flavors: [] } })));
  const { transport, host } = fleet.process("operator");
  const manager = startManager({
    ...{ transport, host },
    controllers: [controller(Candy, { reconcile: (_, { awaitChange }) => Promise.resolve(awaitChange()) })],
    leaderElection: { name: "candies", namespace: "default" },
  });
  await fleet.run(5_000);
  const names = [...manager.metrics().matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
  expect(knownNames.filter((name) => !names.includes(name))).toEqual([]);
  // Counts begin at 0, so that the first error is an increase.
  for (const line of ['reconcile_errors_total{controller="candy"} 0', 'result="error"} 0', 'result="requeue"} 0'])
    expect(manager.metrics()).toContain(line);
  await fleet.wait(manager.stop());
});

test("a member of a group tells its epoch and its share", async () => {
  await using fleet = new Fleet(2);
  const { transport, host } = fleet.process("operator");
  const sharding = { name: "candies", namespace: "default" };
  const manager = startManager({ transport, host, controllers: [], sharding });
  await fleet.run(5_000);
  const metrics = manager.metrics();
  for (const line of [
    'setpoint_shard_epoch{group="candies"} 1',
    'setpoint_shard_members{group="candies"} 1',
    'setpoint_shard_owned_ratio{group="candies"} 1',
    'setpoint_shard_runnable_ratio{group="candies"} 1',
    'setpoint_shard_handover_seconds_count{group="candies"} 1',
  ])
    expect(metrics).toContain(line);
  await fleet.wait(manager.stop());
});
