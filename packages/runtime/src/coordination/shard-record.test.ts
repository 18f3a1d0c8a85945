import type { Stored } from "@setpoint/client";
import { expect, test } from "vitest";
import { Lease } from "./lease.ts";
import { ackedAnnotation, seenGroup } from "./shard-record.ts";

function memberLease(acked: string | undefined): Stored<Lease> {
  const lease = Lease({ name: "a-x", namespace: "default", spec: { holderIdentity: "a" } });
  const annotations = acked === undefined ? {} : { [ackedAnnotation]: acked };
  const metadata = {
    name: "a-x",
    namespace: "default",
    uid: "u",
    resourceVersion: "1",
    creationTimestamp: "",
    annotations,
  };
  return { ...lease, metadata };
}

test.each([
  ["7", 7],
  [undefined, 0],
  ["seven", 0],
  ["Infinity", 0],
  ["7.5", 0],
])("a member that acknowledges %j has released up to %i", (said, acked) => {
  expect(seenGroup("candies", [memberLease(said)]).members.map((member) => member.acked)).toEqual([acked]);
});
