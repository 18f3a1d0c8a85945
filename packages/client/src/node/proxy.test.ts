import { createServer as createHttp } from "node:http";
import { connect as connectTcp, type AddressInfo } from "node:net";
import { systemClock } from "@setpoint/host/system";
import { afterAll, expect, test } from "vitest";
import { httpTransport } from "./http-transport.ts";
import { proxyOfEnvironment } from "./proxy.ts";

test.each([
  ["https://api.example.com", { HTTPS_PROXY: "http://p:1" }, "http://p:1"],
  ["https://api.example.com", { https_proxy: "p:1" }, "http://p:1"],
  ["http://api.example.com", { HTTPS_PROXY: "http://p:1", HTTP_PROXY: "http://q:1" }, "http://q:1"],
  ["https://api.example.com", { HTTPS_PROXY: "http://p:1", NO_PROXY: "*" }, undefined],
  ["https://api.example.com", { HTTPS_PROXY: "http://p:1", NO_PROXY: "a.com, .example.com" }, undefined],
  ["https://api.example.com", { HTTPS_PROXY: "http://p:1", NO_PROXY: "ample.com" }, "http://p:1"],
  ["https://api.example.com:6443", { HTTPS_PROXY: "http://p:1", NO_PROXY: "api.example.com:443" }, "http://p:1"],
  ["https://10.1.2.3", { HTTPS_PROXY: "http://p:1", NO_PROXY: "10.0.0.0/8" }, undefined],
  ["https://11.1.2.3", { HTTPS_PROXY: "http://p:1", no_proxy: "10.0.0.0/8" }, "http://p:1"],
  ["https://127.0.0.1:6443", { HTTPS_PROXY: "http://p:1" }, undefined],
  ["https://localhost", { HTTPS_PROXY: "http://p:1" }, undefined],
])("the proxy of %s in %j is %s", (server, env, proxy) => {
  expect(proxyOfEnvironment(server, env)).toBe(proxy);
});

/** A proxy that lets CONNECT through when the user is the right one, and remembers what it was asked. */
const asked: string[] = [];
const proxy = createHttp();
proxy.on("connect", (request, socket, head) => {
  asked.push(
    `${request.url} ${Buffer.from((request.headers["proxy-authorization"] ?? " ").split(" ")[1] ?? "", "base64").toString()}`,
  );
  if (!asked.at(-1)?.endsWith("me:secret"))
    return void socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
  const [host = "", port = ""] = (request.url ?? "").split(":");
  const target = connectTcp(Number(port), host, () => {
    socket.write("HTTP/1.1 200 OK\r\n\r\n");
    target.write(head);
    target.pipe(socket).pipe(target);
  });
  target.on("error", () => socket.destroy());
  socket.on("error", () => target.destroy());
});
await new Promise<void>((resolve) => void proxy.listen(0, "127.0.0.1", resolve));
const proxyPort = (proxy.address() as AddressInfo).port;
afterAll(() => void proxy.close());

test("a proxy that refuses is named, without its password", async () => {
  const server = "https://127.0.0.1:1";
  await using transport = httpTransport({
    server,
    clock: systemClock,
    proxy: `http://me:wrong@127.0.0.1:${proxyPort}`,
  });
  await expect(transport.send({ method: "GET", path: "/version" })).rejects.toThrow(
    `Cannot connect to "${server}": Cannot reach 127.0.0.1:1 through proxy "http://…@127.0.0.1:${proxyPort}": it answered 407 Proxy Authentication Required`,
  );
});

test("a proxy that lets through is asked for the server", async () => {
  const server = "https://127.0.0.1:1";
  await using transport = httpTransport({
    server,
    clock: systemClock,
    proxy: `http://me:secret@127.0.0.1:${proxyPort}`,
  });
  await expect(transport.send({ method: "GET", path: "/version" })).rejects.toMatchObject({
    code: "ERR_CONNECTION_FAILED",
  });
  expect(asked.at(-1)).toBe("127.0.0.1:1 me:secret");
});
