import type { ApiRequest, ApiResponse, RawResponse, Transport } from "@setpoint/apimachinery";
import { expect, test } from "vitest";
import { fencedTransport } from "./fenced-transport.ts";

const answer: ApiResponse = { kind: "object", status: 200, headers: {}, object: {} };
const request = (method: ApiRequest["method"]): ApiRequest => ({ method, path: "/api/v1/namespaces" });

/** Notes what comes through. */
class Server implements Transport {
  readonly seen: string[] = [];

  async send({ method }: ApiRequest): Promise<ApiResponse> {
    this.seen.push(method);
    return answer;
  }
}

class ServerOfBytes extends Server {
  async sendRaw({ method }: ApiRequest): Promise<RawResponse> {
    this.seen.push(`${method} of bytes`);
    throw new Error("this server has nothing");
  }
}

test("a fence lets reads pass at any time, and writes only while the process may write", async () => {
  const server = new Server();
  let mayWrite = true;
  const fenced = fencedTransport(server, () => {
    if (!mayWrite) throw new Error("not the leader");
  });
  for (const method of ["GET", "POST", "PATCH"] as const) expect(await fenced.send(request(method))).toBe(answer);
  mayWrite = false;
  expect(await fenced.send(request("GET"))).toBe(answer);
  for (const method of ["POST", "PUT", "PATCH", "DELETE"] as const)
    await expect(fenced.send(request(method))).rejects.toThrow("not the leader");
  expect(server.seen).toEqual(["GET", "POST", "PATCH", "GET"]);
});

test("a fence keeps reads as bytes where the transport has them", async () => {
  expect(fencedTransport(new Server(), () => {}).sendRaw).toBeUndefined();
  const server = new ServerOfBytes();
  await expect(fencedTransport(server, () => {}).sendRaw?.(request("GET"))).rejects.toThrow("nothing");
  expect(server.seen).toEqual(["GET of bytes"]);
});
