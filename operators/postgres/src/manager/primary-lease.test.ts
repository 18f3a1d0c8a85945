import { expect, test } from "vitest";
import { leaseMs } from "../instance/instance-protocol.ts";
import { answerLease, PrimaryLease } from "./primary-lease.ts";

const three = ["a", "b", "c"];

test("PrimaryLease.isHeld() needs the operator or a majority of all instances", () => {
  const lease = new PrimaryLease();
  expect(lease.isHeld(0, three)).toBe(false);
  lease.renewByPeer("b", 0);
  expect(lease.isHeld(leaseMs - 1, three)).toBe(true);
  expect(lease.isHeld(leaseMs, three)).toBe(false);
  lease.renewByOperator(leaseMs);
  expect(lease.isHeld(2 * leaseMs - 1, three)).toBe(true);
  expect(lease.isHeld(2 * leaseMs, three)).toBe(false);
});

test("PrimaryLease.isHeld() of five instances needs two peers", () => {
  const lease = new PrimaryLease();
  const five = [...three, "d", "e"];
  lease.renewByPeer("b", 0);
  expect(lease.isHeld(1, five)).toBe(false);
  lease.renewByPeer("c", 0);
  expect(lease.isHeld(1, five)).toBe(true);
});

test("PrimaryLease.isHeld() of the only instance needs nobody", () => {
  expect(new PrimaryLease().isHeld(0, ["a"])).toBe(true);
});

test("PrimaryLease.isHeld() counts no grant of a peer that has left", () => {
  const lease = new PrimaryLease();
  lease.renewByPeer("gone", 0);
  expect(lease.isHeld(1, three)).toBe(false);
});

test("PrimaryLease.forget() ends what another term granted", () => {
  const lease = new PrimaryLease();
  lease.renewByOperator(0);
  lease.renewByPeer("b", 0);
  lease.forget();
  expect(lease.isHeld(1, three)).toBe(false);
});

test.each([
  [{ holder: "a", term: 3 }, { term: 3, primary: "a" }, true],
  [{ holder: "a", term: 3 }, { term: 4, primary: "a" }, false],
  [{ holder: "a", term: 4 }, { term: 3, primary: "a" }, false],
  [{ holder: "a", term: 3 }, { term: 3, primary: "b" }, false],
  [{ holder: "a", term: 3 }, { term: 3 }, false],
])("answerLease(%j) of %j: %s", (request, view, isGranted) => {
  expect(answerLease(request, view)).toEqual({ isGranted, term: view.term });
});
