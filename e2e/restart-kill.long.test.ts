/** `npm start` ends by `kill -9` while a client writes, and the next start takes over what goes on. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { LedgerWriter } from "../examples/etcd/tour/ledger-writer.ts";
import { processesWith } from "./processes.ts";
import { connectTo, memberIds, remains, started, temporaryFolder } from "./restart/started-cluster.ts";

/** How long writes may fail around a kill. */
const outageMsMax = 10_000;

/** The node agents of the cluster: processes of the command that belong to the main process. */
function agentsOf(main: number): readonly number[] {
  return processesWith("setpoint.mjs node").filter((pid) => {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) === main;
  });
}

test("kills of agents and of the main process cost an etcd cluster nothing: its members go on, no acknowledged key is lost", async () => {
  const directory = temporaryFolder();
  const first = started(directory);
  await first.untilReady();
  let members: readonly string[] = [];
  let writer: LedgerWriter;
  {
    await using connection = connectTo(directory);
    members = await memberIds(connection.cluster);
    writer = new LedgerWriter(await connection.cluster.clientEndpoint());
    await connection.cluster.until("some writes", async () => writer.acknowledged > 50);
    const agents = agentsOf(first.pid);
    expect(agents).not.toEqual([]);
    for (const agent of agents) {
      process.kill(agent, "SIGKILL");
      const isBack = (): boolean => {
        const now = agentsOf(first.pid);
        return !now.includes(agent) && now.length === agents.length;
      };
      await expect.poll(isBack, { timeout: 10_000 }).toBe(true);
      const acknowledged = writer.acknowledged;
      await connection.cluster.until("writes again", async () => writer.acknowledged > acknowledged + 20);
    }
    await first.kill();
  }

  const second = started(directory);
  await second.untilReady();
  await using connection = connectTo(directory);
  await connection.cluster.until("the cluster at rest", () => connection.cluster.isSettled(3));
  const acknowledged = writer.acknowledged;
  await connection.cluster.until("writes again", async () => writer.acknowledged > acknowledged + 20);
  const { lost, longestGapMs } = await writer.finish();
  expect(lost).toEqual([]);
  expect(longestGapMs).toBeLessThan(outageMsMax);
  expect(await memberIds(connection.cluster)).toEqual(members);
  await second.interrupt();
  expect(remains(directory)).toEqual([]);
});
