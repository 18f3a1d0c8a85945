import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import type { Clock } from "@setpoint/host";
import { systemClock } from "@setpoint/host/system";
import { expect, test } from "vitest";
import { ConnectionPool } from "./connection-pool.ts";
import type { OutgoingRequest } from "./kept-connection.ts";

const ok = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
const watching = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";

/** A request as a server sees it, and the connection that brought it. */
interface Arrived {
  readonly connection: number;
  readonly path: string;
  readonly socket: Socket;
}

/** A pool whose server answers as `answer` does, and whose clock moves by hand. */
async function poolWith(answer: (arrived: Arrived) => void) {
  const sockets: Socket[] = [];
  const arrived: Arrived[] = [];
  const server = createServer((socket) => {
    const connection = sockets.push(socket);
    socket.on("error", () => undefined);
    socket.on("data", (chunk: Buffer) => {
      const path = chunk.toString().split(" ")[1];
      if (path === undefined || !chunk.toString().includes(" HTTP/1.1")) return;
      const request = { connection, path, socket };
      arrived.push(request);
      answer(request);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const timers = new Set<{ readonly callback: () => void; readonly delayMs: number }>();
  const clock: Clock = {
    ...systemClock,
    setTimer(callback, delayMs) {
      const timer = { callback, delayMs };
      timers.add(timer);
      return { cancel: () => void timers.delete(timer) };
    },
  };
  /** Lets the timers go off that were set for at most so long. */
  const pass = (ms: number): void => {
    for (const timer of [...timers]) if (timer.delayMs <= ms && timers.delete(timer)) timer.callback();
  };
  const open = async (): Promise<Socket> => {
    const socket = connect(port, "127.0.0.1");
    await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    return socket;
  };
  const pool = new ConnectionPool({ clock, server: "http://here", open });
  const send = (path: string, more: Partial<OutgoingRequest> = {}) => {
    const request = { method: "GET", body: undefined, silence: "never", signal: undefined, ...more } as const;
    return pool.send({ ...request, head: `${request.method} ${path} HTTP/1.1\r\n\r\n` });
  };
  const text = async (path: string, more: Partial<OutgoingRequest> = {}): Promise<string> => {
    const { body } = await send(path, more);
    return (await body.all()).toString();
  };
  return {
    pool,
    arrived,
    sockets,
    send,
    text,
    pass,
    look: () => pass(25_000),
    async [Symbol.asyncDispose]() {
      await pool.close();
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const turn = (delayMs = 20): Promise<void> => new Promise((resolve) => setTimeout(resolve, delayMs));
const lost = { code: "ERR_CONNECTION_LOST" };

test("requests one after the other share a connection, those at one time have one each and leave them to others", async () => {
  await using world = await poolWith(({ socket }) => void setTimeout(() => socket.write(ok), 5));
  for (let i = 0; i < 3; i++) expect(await world.text("/a")).toBe("ok");
  expect(world.sockets).toHaveLength(1);
  await Promise.all([world.text("/b"), world.text("/c"), world.text("/d")]);
  await Promise.all([world.text("/e"), world.text("/f"), world.text("/g")]);
  expect(world.sockets).toHaveLength(3);
});

test("a connection whose server says that it closes carries no further request", async () => {
  await using world = await poolWith(({ socket }) => socket.write(ok.replace("OK", "OK\r\nconnection: close")));
  await world.text("/a");
  await world.text("/b");
  expect(world.arrived.map(({ connection }) => connection)).toEqual([1, 2]);
});

test("of a connection that the server closed while it was idle a read is asked again, a write is not", async () => {
  await using world = await poolWith(({ path, socket }) => {
    if (path === "/first") socket.write(ok);
    else if (world.arrived.filter((each) => each.path === path).length === 1) socket.destroy();
    else socket.write(ok);
  });
  await world.text("/first");
  expect(await world.text("/read")).toBe("ok");
  expect(world.arrived.map(({ path }) => path)).toEqual(["/first", "/read", "/read"]);
  await world.text("/first");
  await expect(world.text("/write", { method: "PATCH" })).rejects.toMatchObject(lost);
  expect(world.arrived.filter(({ path }) => path === "/write")).toHaveLength(1);
});

test("a read that is cut on a new connection is an error and not asked without end", async () => {
  await using world = await poolWith(({ socket }) => socket.destroy());
  await expect(world.text("/a")).rejects.toMatchObject(lost);
  expect(world.arrived).toHaveLength(1);
});

test("an answer that is not HTTP, or comes unasked, ends its connection", async () => {
  await using world = await poolWith(({ path, socket }) =>
    socket.write(path === "/bad" ? "220 smtp\r\n\r\n" : ok + ok),
  );
  await expect(world.text("/bad")).rejects.toMatchObject({
    ...lost,
    cause: { message: expect.stringContaining("220") },
  });
  expect(await world.text("/twice")).toBe("ok");
  expect(await world.text("/twice")).toBe("ok");
  expect(world.arrived.map(({ connection }) => connection)).toEqual([1, 2, 3]);
});

test("what a server says while nobody asks ends the connection before the next request", async () => {
  await using world = await poolWith(({ socket }) => {
    socket.write(ok);
    setTimeout(() => socket.write("HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n"), 10);
  });
  await world.text("/a");
  await turn(50);
  expect(await world.text("/b")).toBe("ok");
  expect(world.arrived.map(({ connection }) => connection)).toEqual([1, 2]);
});

test("a reader who stops ends the answer, and with it the server's work", async () => {
  await using world = await poolWith(({ socket }) => socket.write(`${watching}2\r\nok\r\n`));
  const { body } = await world.send("/watch", { silence: "body" });
  for await (const part of body) {
    expect(Buffer.from(part).toString()).toBe("ok");
    break;
  }
  await turn();
  expect(world.sockets.map(({ destroyed }) => destroyed)).toEqual([true]);
});

test("a server that answers before it has the whole request is not sent the next one behind it", async () => {
  await using world = await poolWith(({ socket }) => {
    socket.pause();
    socket.write(ok);
  });
  const body = "x".repeat(8_000_000);
  expect(await world.text("/large", { method: "POST", body })).toBe("ok");
  expect(await world.text("/next")).toBe("ok");
  expect(world.sockets).toHaveLength(2);
});

test("a signal ends a request that waits for its head, for its body, or for its turn", async () => {
  await using world = await poolWith(({ path, socket }) => {
    if (path === "/body") socket.write(`${watching}2\r\nok\r\n`);
  });
  const stop = new AbortController();
  const reason = new Error("the manager stops");
  const { body } = await world.send("/body", { signal: stop.signal });
  const waiting = Array.from({ length: 40 }, (_, i) => world.text(`/head-${i}`, { signal: stop.signal }));
  const ends = Promise.allSettled([...waiting, body.all()]);
  await turn(100);
  expect(world.arrived).toHaveLength(33);
  stop.abort(reason);
  for (const end of await ends) expect(end).toEqual({ status: "rejected", reason });
  await turn();
  expect(world.sockets.filter(({ destroyed }) => !destroyed)).toEqual([]);
});

test("no more than 32 requests wait for an answer at a time, and watches that have theirs are none of them", async () => {
  const held: (() => void)[] = [];
  await using world = await poolWith(({ path, socket }) => {
    if (path === "/watch") socket.write(watching);
    else held.push(() => socket.write(ok));
  });
  for (let i = 0; i < 40; i++) await world.send("/watch", { silence: "body" });
  const texts = Array.from({ length: 50 }, () => world.text("/a"));
  await turn(100);
  expect(held).toHaveLength(32);
  while (held.length > 0) {
    for (const release of held.splice(0)) release();
    await turn(50);
  }
  expect(await Promise.all(texts)).toEqual(texts.map(() => "ok"));
});

test("a request that has waited a second for its turn goes at once, so that no two wait for each other", async () => {
  const held: (() => void)[] = [];
  await using world = await poolWith(({ path, socket }) => {
    if (path === "/asked-by-a-webhook") socket.write(ok);
    else held.push(() => socket.write(ok));
  });
  const writes = Array.from({ length: 40 }, () => world.text("/write"));
  const asked = world.text("/asked-by-a-webhook");
  await turn(100);
  expect(held).toHaveLength(32);
  world.pass(1_000);
  expect(await asked).toBe("ok");
  await turn(50);
  for (const release of held.splice(0)) release();
  expect(await Promise.all(writes)).toEqual(writes.map(() => "ok"));
});

test("a server that owes an answer and is silent is given up, a watch and a reader who is behind are not", async () => {
  const large = "x".repeat(4_000_000);
  await using world = await poolWith(({ path, socket }) => {
    if (path === "/watch") socket.write(watching);
    if (path === "/half") socket.write(`${watching}2\r\nok\r\n`);
    if (path === "/large") socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${large.length}\r\n\r\n${large}`);
  });
  const outcomes: Record<string, unknown> = {};
  const note = (name: string, promise: Promise<unknown>): void =>
    void promise.then(
      () => (outcomes[name] = "whole"),
      (error: unknown) => (outcomes[name] = error),
    );
  note("head", world.text("/silent"));
  note("follow", world.text("/silent", { silence: "always" }));
  note("half", world.text("/half"));
  note("watch", (await world.send("/watch", { silence: "body" })).body.all());
  const { body } = await world.send("/large");
  await turn(50);
  for (let i = 0; i < 3; i++) world.look();
  await turn();
  expect(outcomes).toEqual({});
  for (let i = 0; i < 3; i++) world.look();
  await turn();
  const silent = expect.objectContaining({ ...lost, cause: new Error("the server is silent") });
  expect(outcomes).toEqual({ head: silent, half: silent });
  expect((await body.all()).length).toBe(large.length);
});

test("a connection that nobody needs is closed after two looks, one in use is not", async () => {
  await using world = await poolWith(({ path, socket }) => socket.write(path === "/watch" ? watching : ok));
  await world.send("/watch", { silence: "body" });
  await world.text("/a");
  world.look();
  await world.text("/a");
  for (let i = 0; i < 2; i++) world.look();
  await turn();
  expect(world.sockets.map(({ destroyed }) => destroyed)).toEqual([false, true]);
  expect(await world.text("/a")).toBe("ok");
});

test("a body that nobody reads stops its server instead of filling the memory", async () => {
  const chunk = "x".repeat(1_000_000);
  await using world = await poolWith(({ socket }) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${chunk.length * 100}\r\n\r\n`);
    for (let i = 0; i < 100; i++) socket.write(chunk);
  });
  const { body } = await world.send("/large");
  await turn(200);
  expect(body.isPaused).toBe(true);
  const waiting = world.sockets[0]?.writableLength;
  await turn(300);
  expect(world.sockets[0]?.writableLength).toBe(waiting);
  expect(waiting).toBeGreaterThan(chunk.length * 80);
  let length = 0;
  for await (const part of body) length += part.length;
  expect(length).toBe(chunk.length * 100);
});

test("a connection whose answer is whole carries the next request, however far behind the reader of the first is", async () => {
  const large = "x".repeat(1024 * 1024 + 1);
  await using world = await poolWith(({ path, socket }) =>
    socket.write(path === "/large" ? ok.replace("2\r", `${large.length}\r`).replace(/ok$/, large) : ok),
  );
  const { body } = await world.send("/large");
  await turn(50);
  expect(await world.text("/next")).toBe("ok");
  expect(world.sockets).toHaveLength(1);
  expect((await body.all()).length).toBe(large.length);
});

test("a signal that aborts while a connection is opened ends its request, and leaves the connection to the next", async () => {
  await using world = await poolWith(({ socket }) => socket.write(ok));
  const stop = new AbortController();
  const ended = expect(world.text("/a", { signal: stop.signal })).rejects.toThrow("enough");
  stop.abort(new Error("enough"));
  await ended;
  expect(await world.text("/b")).toBe("ok");
  expect(world.arrived.map(({ path }) => path)).toEqual(["/b"]);
  expect(world.sockets).toHaveLength(1);
});

test("after a change of credentials no connection of before carries a request, what comes over one still comes", async () => {
  await using world = await poolWith(({ path, socket }) => socket.write(path === "/watch" ? watching : ok));
  const { body } = await world.send("/watch", { silence: "body" });
  await world.text("/a");
  world.pool.retire();
  await world.text("/b");
  expect(world.arrived.at(-1)?.connection).toBe(3);
  world.arrived[0]?.socket.write("2\r\nok\r\n0\r\n\r\n");
  expect((await body.all()).toString()).toBe("ok");
  await turn();
  expect(world.sockets.map(({ destroyed }) => destroyed)).toEqual([true, true, false]);
});

test("closing cuts what is under way and leaves no connection", async () => {
  await using world = await poolWith(({ path, socket }) => void (path === "/a" && socket.write(ok)));
  await world.text("/a");
  const closed = { code: "ERR_TRANSPORT_CLOSED" };
  const ends = Promise.allSettled([world.text("/never", { method: "PATCH" }), world.text("/never")]);
  await world.pool.close();
  const [answer, opening] = await ends;
  expect(answer).toMatchObject({ status: "rejected", reason: lost });
  // Nothing of it was sent.
  expect(opening).toMatchObject({ status: "rejected", reason: closed });
  await expect(world.text("/later")).rejects.toMatchObject(closed);
});
