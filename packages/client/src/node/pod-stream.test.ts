import { connect as connectTcp, type AddressInfo } from "node:net";
import { systemClock } from "@setpoint/host/system";
import { afterAll, expect, test } from "vitest";
import { WebSocketServer } from "ws";
import { attachToPod } from "./exec-in-pod.ts";
import { connectToPod, forwardPort } from "./forward-port.ts";

/**
 * What a kubelet does behind an API server: writes lines to clients that attach, echoes on the port 80 of its
 * pods.
 */
const server = new WebSocketServer({
  port: 0,
  host: "127.0.0.1",
  handleProtocols: (offered) => [...offered][0] ?? false,
});
const urls: string[] = [];
server.on("connection", (socket, request) => {
  const url = new URL(request.url ?? "", "http://pods");
  urls.push(`${url.pathname}${url.search} ${socket.protocol}`);
  if (url.pathname.endsWith("/attach")) {
    socket.send(Buffer.from("\u0001out\n"));
    socket.send(Buffer.from("\u0002err\n"));
    socket.send(Buffer.from('\u0003{"metadata":{},"status":"Success"}'));
    return socket.close(1000);
  }
  const port = Number(url.searchParams.get("ports"));
  for (const channel of [0, 1]) socket.send(Buffer.from([channel, port & 0xff, port >> 8]));
  if (port !== 80) socket.send(Buffer.concat([Buffer.from([1]), Buffer.from(`nothing listens on ${port}`)]));
  socket.on("message", (data: Buffer) => socket.send(data));
});
await new Promise<void>((resolve) => void server.once("listening", resolve));
afterAll(() => void server.close());
const connection = { server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, clock: systemClock };
const pod = { connection, namespace: "default", pod: "web" };

test("attachToPod() gives the streams of the container's own process", async () => {
  const said: string[] = [];
  const stdout = (chunk: Uint8Array): void => void said.push(`out ${Buffer.from(chunk).toString()}`);
  const stderr = (chunk: Uint8Array): void => void said.push(`err ${Buffer.from(chunk).toString()}`);
  expect(await attachToPod({ ...pod, container: "main", stdout, stderr })).toEqual({ exitCode: 0 });
  expect(said).toEqual(["out out\n", "err err\n"]);
  expect(urls.at(-1)).toBe(
    "/api/v1/namespaces/default/pods/web/attach?container=main&stdout=true&stderr=true v5.channel.k8s.io",
  );
});

test("forwardPort() gives every connection one of its own to the pod", async () => {
  await using forward = await forwardPort({ ...pod, port: 80 });
  const ask = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connectTcp(forward.localPort, "127.0.0.1", () => void socket.write(text));
      socket.once("data", (data: Buffer) => {
        socket.destroy();
        resolve(data.toString());
      });
      socket.once("error", reject);
    });
  expect(await Promise.all([ask("one"), ask("two")])).toEqual(["one", "two"]);
  expect(urls.at(-1)).toBe("/api/v1/namespaces/default/pods/web/portforward?ports=80 v4.channel.k8s.io");
});

test("a port on which nothing listens is an error in the words of the node", async () => {
  const stream = await connectToPod({ ...pod, port: 81 });
  const error = await new Promise<Error>((resolve) => void stream.once("error", resolve).resume());
  expect(error.message).toBe('Cannot connect to port 81 of Pod "web": nothing listens on 81');
});

test("a refused connection says which port of which pod", async () => {
  const nobody = { ...connection, server: "http://127.0.0.1:1" };
  await expect(connectToPod({ ...pod, connection: nobody, port: 80 })).rejects.toMatchObject({
    code: "ERR_PORT_FORWARD",
    message: expect.stringMatching(/^Cannot connect to port 80 of Pod "web": /) as string,
  });
});
