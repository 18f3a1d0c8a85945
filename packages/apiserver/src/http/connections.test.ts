import { seededRandom, VirtualClock } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import {
  type Connection,
  Connections,
  connectionsMax,
  connectionsOfUserMax,
  idleMsMax,
  silentMsMax,
} from "./connections.ts";

class Server {
  readonly clock = new VirtualClock(seededRandom(1));
  readonly connections = new Connections(this.clock);
  readonly closed: string[] = [];

  open(owner: string, name = ""): Connection {
    const opened: Connection = this.connections.add({
      owner,
      destroy: () => {
        this.closed.push(name);
        this.connections.remove(opened);
      },
    });
    return opened;
  }
}

test("a user with too many connections loses the oldest idle one", () => {
  const server = new Server();
  server.connections.begin(server.open("a", "busy"));
  server.open("a", "idle");
  for (let i = 2; i < connectionsOfUserMax; i++) server.open("a");
  expect(server.closed).toEqual([]);
  server.open("a", "new");
  expect(server.closed).toEqual(["idle"]);
});

test("when all connections are in use, the user who has most loses one, and not the newcomer", () => {
  const server = new Server();
  const owners = Array.from({ length: 20 }, (_, i) => `user-${i}`);
  for (let i = 0; i < connectionsOfUserMax; i++) server.open("greedy", "greedy");
  for (let i = 0; i < connectionsMax - connectionsOfUserMax; i++) server.open(owners[i % owners.length] ?? "");
  server.open("newcomer", "newcomer");
  expect(server.closed).toEqual(["greedy"]);
});

test("a stranger who says nothing is cut earlier than a user between two requests", async () => {
  const server = new Server();
  server.open("", "stranger");
  const asked = server.open("", "user");
  server.connections.begin(asked);
  server.connections.own(asked, "a");
  server.connections.end(asked);
  await server.clock.run(silentMsMax + 1);
  server.connections.closeIdle();
  expect(server.closed).toEqual(["stranger"]);
  await server.clock.run(idleMsMax);
  server.connections.closeIdle();
  expect(server.closed).toEqual(["stranger", "user"]);
});
