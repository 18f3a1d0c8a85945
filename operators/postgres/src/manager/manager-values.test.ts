import { expect, test } from "vitest";
import { withoutReachedTarget } from "./data-directory.ts";
import { passwordVerifier } from "./inner-objects.ts";
import { parseDesired, parseLeaseRequest } from "./parse-request.ts";
import { parseFacts } from "./sql.ts";

test("passwordVerifier() has the keys that follow from the example of RFC 7677", () => {
  const salt = Buffer.from("W22ZaJ0SNY7soEsUEjb6gQ==", "base64");
  expect(passwordVerifier("pencil", salt)).toBe(
    "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=",
  );
});

test("parseFacts() reads a primary and a replica", () => {
  expect(parseFacts("f\t0/3000148\t\t1\tf\t\t1795811.5\tmax_connections=100,max_wal_senders=20\t15.18\t77\n")).toEqual({
    isPrimary: true,
    position: "0/3000148",
    replayed: undefined,
    timeline: 1,
    isStreaming: false,
    pendingRestart: [],
    startedAt: "1795811.5",
    limits: { max_connections: 100, max_wal_senders: 20 },
    version: "15.18",
    systemId: "77",
  });
  expect(
    parseFacts("t\t0/3000148\t0/3000100\t2\tt\tmax_connections,shared_buffers\t1795811.5\t\t17.6\t77\n"),
  ).toMatchObject({
    isPrimary: false,
    replayed: "0/3000100",
    isStreaming: true,
    pendingRestart: ["max_connections", "shared_buffers"],
  });
});

test("parseFacts() says nothing of a position that a replica does not know yet", () => {
  expect(parseFacts("t\t\t0/3000100\t2\tf\t\t\t\t17.6\t77\n").position).toBeUndefined();
});

test("parseFacts() refuses a row with other columns", () => {
  expect(() => parseFacts("f\t0/1\n")).toThrow(/Cannot read what the server says of itself/);
});

test("a target behind the last change is taken away, and one that was not found stays", () => {
  const time =
    "restore_command = 'cp'\nrecovery_target_time = '2026-11-27 12:00:00+00'\nrecovery_target_action = 'promote'\n";
  expect(withoutReachedTarget(time)).toBe("restore_command = 'cp'\nrecovery_target_action = 'promote'\n");
  const name = "recovery_target_name = 'before'\n";
  expect(withoutReachedTarget(name)).toBe(name);
});

const desired = {
  term: 2,
  primary: "orders-1",
  mayPromote: true,
  isFirstStart: false,
  peers: [{ name: "orders-1", host: "orders-1.orders.shop.svc" }],
  settings: {
    parameters: { work_mem: "8MB" },
    accessRules: [],
    isArchived: true,
    synchronousStandbyNames: "",
    database: { name: "app", owner: "app" },
  },
};

test("parseDesired() reads what the operator sends", () => {
  expect(parseDesired(JSON.parse(JSON.stringify(desired)))).toEqual(desired);
});

test.each([
  [{ ...desired, term: -1 }, "Cannot read term: expected a whole number, got -1"],
  [{ ...desired, peers: {} }, "Cannot read peers: expected a list, got {}"],
  [{ ...desired, primary: 7 }, "Cannot read primary: expected a text, got 7"],
  [[], "Cannot read the document: expected an object, got []"],
])("parseDesired() refuses %j", (value, message) => {
  expect(() => parseDesired(value)).toThrow(message);
});

test("parseLeaseRequest() refuses a term that is no number", () => {
  expect(() => parseLeaseRequest({ holder: "a", term: "3" })).toThrow(
    'Cannot read term: expected a whole number, got "3"',
  );
});
