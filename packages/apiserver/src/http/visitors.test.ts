import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { expect, test } from "vitest";
import { Visitors, visitorsMax, visitorsOfAddressMax } from "./visitors.ts";

const socket = (remoteAddress?: string): Socket => Object.assign(new EventEmitter(), { remoteAddress }) as Socket;

test("one address never takes the places of others, and gives back what it closes", () => {
  const visitors = new Visitors();
  const first = socket("10.64.0.2");
  expect(visitors.admit(first)).toBe(true);
  for (let n = 1; n < visitorsOfAddressMax; n++) visitors.admit(socket("10.64.0.2"));
  expect(visitors.admit(socket("10.64.0.2"))).toBe(false);
  expect(visitors.admit(socket("10.64.0.3"))).toBe(true);
  first.emit("close");
  expect(visitors.admit(socket("10.64.0.2"))).toBe(true);
  expect(visitors.size).toBe(visitorsOfAddressMax + 1);
});

test("there are never more in all than files may be open, and none that has closed already", () => {
  const visitors = new Visitors();
  expect(visitors.admit(socket())).toBe(false);
  for (let n = 0; n <= visitorsMax; n++) visitors.admit(socket(`10.64.${n >> 8}.${n & 255}`));
  expect(visitors.size).toBe(visitorsMax);
});
