import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import type { Clock } from "@setpoint/host";
import { expect, test } from "vitest";
import { HandshakeGate, handshakeMsMax, handshakesMax, handshakesOfSourceMax } from "./handshake-gate.ts";

const nextLoopTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A loop that turns when it is asked to, with handshakes that take a millisecond each. */
class Loop {
  nowMs = 0;
  readonly begun: string[] = [];
  readonly gate: HandshakeGate;
  #deferred: (() => void)[] = [];

  constructor(users: Readonly<Record<number, string>> = {}) {
    const clock: Pick<Clock, "monotonic" | "defer"> = {
      monotonic: () => this.nowMs,
      defer: (callback) => void this.#deferred.push(callback),
    };
    const begin = (socket: Socket): void => {
      this.nowMs++;
      this.begun.push((socket as unknown as FakeSocket).label);
    };
    const userOf = async ({ remotePort = 0 }: Pick<Socket, "remotePort">): Promise<string | undefined> =>
      users[remotePort];
    // The gate needs no more of a clock.
    this.gate = new HandshakeGate({ clock: clock as Clock, begin, users: { userOf } });
  }

  connect(label: string, remoteAddress: string, remotePort: number, speaks = true): FakeSocket {
    const socket = new FakeSocket(label, remoteAddress, remotePort);
    this.gate.take(socket as unknown as Socket);
    if (speaks) socket.speak();
    return socket;
  }

  async turn(): Promise<readonly string[]> {
    const before = this.begun.length;
    const due = this.#deferred;
    this.#deferred = [];
    for (const callback of due) callback();
    await nextLoopTurn();
    return this.begun.slice(before);
  }
}

class FakeSocket extends EventEmitter {
  readonly localAddress = "10.96.0.1";
  readonly localPort = 443;
  readonly label: string;
  readonly remoteAddress: string;
  readonly remotePort: number;
  readableLength = 0;
  destroyed = false;

  constructor(label: string, remoteAddress: string, remotePort: number) {
    super();
    this.label = label;
    this.remoteAddress = remoteAddress;
    this.remotePort = remotePort;
  }

  speak(): void {
    this.readableLength = 500;
    this.emit("readable");
  }

  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    queueMicrotask(() => this.emit("close"));
  }
}

test("handshakes get a part of each turn, and a client of another address does not wait for a flood", async () => {
  const loop = new Loop();
  for (let i = 0; i < 400; i++) loop.connect(`f${i}`, "10.64.0.9", 1_000 + i);
  await nextLoopTurn();
  expect(loop.begun.length).toBeLessThanOrEqual(4);
  loop.connect("other", "10.64.0.2", 1_000);
  await nextLoopTurn();
  expect(await loop.turn()).toContain("other");
  expect(loop.begun.length).toBeLessThan(20);
});

test("users of this host are distinguished in a crowd, whatever addresses they take", async () => {
  const loop = new Loop({ ...Object.fromEntries(Array.from({ length: 400 }, (_, i) => [1_000 + i, "65534"])), 9: "0" });
  for (let i = 0; i < 400; i++) loop.connect(`f${i}`, `127.0.${i % 7}.${i % 200}`, 1_000 + i);
  await nextLoopTurn();
  loop.connect("administrator", "127.0.0.1", 9);
  // Newer ones of the flood come after it.
  for (let i = 0; i < 20; i++) loop.connect(`late${i}`, "127.0.0.1", 1_000 + i, true);
  await nextLoopTurn();
  await loop.turn();
  await loop.turn();
  expect(loop.begun).toContain("administrator");
  expect(loop.begun.length).toBeLessThan(30);
});

test("a connection that says nothing costs no handshake, and ends in time", async () => {
  const loop = new Loop();
  const silent = loop.connect("silent", "10.64.0.9", 1, false);
  await loop.turn();
  expect(loop.begun).toEqual([]);
  loop.nowMs = handshakeMsMax;
  loop.gate.closeLate();
  expect(silent.destroyed).toBe(false);
  loop.nowMs++;
  loop.gate.closeLate();
  expect(silent.destroyed).toBe(true);
  await nextLoopTurn();
  expect(loop.gate.size).toBe(0);
});

test("one that closes without a byte begins no handshake", async () => {
  const loop = new Loop();
  const socket = loop.connect("closed", "10.64.0.9", 1, false);
  socket.emit("readable");
  await nextLoopTurn();
  expect([loop.begun, socket.destroyed]).toEqual([[], true]);
});

test("an address that has too many loses its oldest, and all together lose those of the address with the most", async () => {
  const loop = new Loop();
  const first = loop.connect("first", "10.64.0.9", 1, false);
  for (let i = 1; i < handshakesOfSourceMax; i++) loop.connect("x", "10.64.0.9", 1 + i, false);
  expect(first.destroyed).toBe(false);
  loop.connect("x", "10.64.0.9", 9_999, false);
  expect(first.destroyed).toBe(true);
  await nextLoopTurn();
  expect(loop.gate.size).toBe(handshakesOfSourceMax);
  const single = loop.connect("single", "10.64.7.7", 1, false);
  for (let i = 0; i < handshakesMax - handshakesOfSourceMax + 10; i++)
    loop.connect("y", `10.65.${i >> 8}.${i & 255}`, 1, false);
  await nextLoopTurn();
  expect(loop.gate.size).toBe(handshakesMax);
  expect(single.destroyed).toBe(false);
});

test("a connection whose handshake is over is counted no more", () => {
  const loop = new Loop();
  const socket = loop.connect("a", "10.64.0.9", 1);
  loop.gate.passed(socket as unknown as Socket);
  expect(loop.gate.size).toBe(0);
});
