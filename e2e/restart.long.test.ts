/** `npm start` ends by ^C. No process stays behind, and the next start finds all data again. */
import { expect, test } from "vitest";
import { etcdClient } from "../examples/etcd/tour/etcd-client.ts";
import { connectTo, expectQuorumOf, memberIds, remains, started, temporaryFolder } from "./restart/started-cluster.ts";

test("^C leaves no process, no mount and no socket, and the next start finds cluster and keys", async () => {
  const directory = temporaryFolder();
  const first = started(directory);
  await first.untilReady();
  let members: readonly string[] = [];
  {
    await using connection = connectTo(directory);
    const etcd = etcdClient(await connection.cluster.clientEndpoint(), 5_000);
    await etcd.put("greeting", "hello");
    etcd.close();
    members = await memberIds(connection.cluster);
  }
  expect(remains(directory).length).toBeGreaterThan(5);
  expect(await first.interrupt()).toBe(0);
  expect(remains(directory)).toEqual([]);

  const second = started(directory);
  await second.untilReady();
  await using connection = connectTo(directory);
  await connection.cluster.until("the cluster at rest", () => connection.cluster.isSettled(3));
  const etcd = etcdClient(await connection.cluster.clientEndpoint(), 5_000);
  expect(await etcd.get("greeting")).toBe("hello");
  etcd.close();
  await expectQuorumOf(members, connection.cluster);
  await second.interrupt();
  expect(remains(directory)).toEqual([]);
});
