/** Who leads, one row a situation. A member is its report: role, timeline and position. */
import type { DataClaim } from "@setpoint/data-service";
import type { Stored } from "setpoint";
import type { Pod } from "setpoint/kinds";
import { expect, test } from "vitest";
import { AppendLog } from "./append-log.ts";
import { leaderOf } from "./leader.ts";
import type { Seen, SeenMember } from "./seen.ts";
import type { MemberReport } from "./server/log-server.ts";

type Row = readonly [role: MemberReport["role"], timeline: number, position: number] | "silent" | "gone";

function member(name: string, row: Row): SeenMember {
  const pod = row === "gone" ? undefined : ({ metadata: { name } } as Stored<Pod>);
  if (typeof row === "string") return { name, claim: `data-${name}`, pod, report: undefined };
  const [role, timeline, position] = row;
  return { name, claim: `data-${name}`, pod, report: { role, timeline, position } };
}

function seen(status: Partial<AppendLog["status"]>, rows: readonly [Row, Row], restored?: string): Seen {
  const log = { ...AppendLog({ name: "orders", spec: { members: 2 } }), status } as Stored<AppendLog>;
  const data = { runsOn: "data-orders", status: { restored } } as DataClaim;
  const members = [member("0", rows[0]), member("1", rows[1])];
  return { log, data, members, store: { archive: undefined }, unneeded: [] };
}

const led = { primary: "0", timeline: 1, position: 9 };

test.each<[string, Partial<AppendLog["status"]>, readonly [Row, Row], object]>([
  [
    "a new one: the first",
    {},
    [
      ["unknown", 1, 0],
      ["unknown", 1, 0],
    ],
    { primary: "0", timeline: 1 },
  ],
  ["a new one of which one is silent: nobody yet", {}, [["unknown", 1, 0], "silent"], { primary: undefined }],
  [
    "all is well: it stays",
    led,
    [
      ["primary", 1, 9],
      ["replica", 1, 9],
    ],
    { primary: "0", timeline: 1 },
  ],
  [
    "the primary is silent: it stays, because it may accept entries",
    led,
    ["silent", ["replica", 1, 9]],
    { primary: "0" },
  ],
  ["the primary is gone: the replica", led, ["gone", ["replica", 1, 9]], { primary: "1", timeline: 2 }],
  [
    "the replica lacks entries: the primary comes back",
    led,
    ["gone", ["replica", 1, 8]],
    { primary: "0", timeline: 1 },
  ],
  ["the replica does not know its role", led, ["gone", ["unknown", 1, 9]], { primary: "0", timeline: 1 }],
  [
    "the replica has another history",
    { ...led, timeline: 2 },
    ["gone", ["replica", 1, 9]],
    { primary: "0", timeline: 2 },
  ],
  [
    "a restart of the primary: it goes on",
    led,
    [
      ["unknown", 1, 9],
      ["replica", 1, 9],
    ],
    { primary: "0", timeline: 1 },
  ],
])("%s", (_, status, rows, leader) => {
  expect(leaderOf(seen(status, rows))).toMatchObject(leader);
});

test("restored data have a primary of their own, on a history that no member has had", () => {
  const status = { primary: "1", timeline: 2, position: 20 };
  expect(
    leaderOf(
      seen(
        status,
        [
          ["unknown", 1, 9],
          ["unknown", 1, 0],
        ],
        "r1",
      ),
    ),
  ).toEqual({ primary: "0", timeline: 3 });
  expect(
    leaderOf(
      seen(
        status,
        [
          ["unknown", 4, 9],
          ["unknown", 1, 0],
        ],
        "r1",
      ),
    ),
  ).toEqual({ primary: "0", timeline: 4 });
});
