/** 24 2.7: objects above upstream's limits get upstream's refusals, and repeated JSON keys its warning. */
import type { ApiRequest } from "@setpoint/apimachinery";
import { describe, expect, test } from "vitest";
import { bootstrap } from "../assembly/bootstrap.ts";
import { startServer } from "../assembly/server.fixture.ts";

const core = "/api/v1/namespaces/default";
const mebibyte = 1024 * 1024;

async function start() {
  const { host, storage, server } = startServer();
  await bootstrap({ storage, host });
  const transport = server.transport({ username: "admin", groups: ["system:masters"] });
  return async (method: ApiRequest["method"], path: string, body: unknown, more: Partial<ApiRequest> = {}) => {
    const answer = await transport.send({ method, path, body, ...more });
    if (answer.kind !== "object") throw new Error(`a ${answer.kind} answer`);
    const object = answer.object as { readonly message?: string; readonly reason?: string };
    return { ...object, code: answer.status, warning: answer.headers["warning"] };
  };
}

const configMap = (data: object, more: object = {}) => ({
  ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } },
  data,
  ...more,
});
const secret = (bytes: number) => ({
  ...{ apiVersion: "v1", kind: "Secret", metadata: { name: "a" } },
  data: { a: Buffer.alloc(bytes).toString("base64") },
});

describe("objects above upstream's limits get upstream's refusals", () => {
  test("a ConfigMap may have 1 MiB of data, text and bytes together", async () => {
    const send = await start();
    const half = "x".repeat(mebibyte / 2);
    const binaryData = { b: Buffer.alloc(mebibyte / 2).toString("base64") };
    expect((await send("POST", `${core}/configmaps`, configMap({ a: half }, { binaryData }))).code).toBe(201);
    const refused = await send("PUT", `${core}/configmaps/a`, configMap({ a: `${half}x` }, { binaryData }));
    const message = `ConfigMap "a" is invalid: []: Too long: may not be more than 1048576 bytes`;
    expect(refused).toMatchObject({ code: 422, reason: "Invalid", message });
  });

  test("a Secret may have 1 MiB of data", async () => {
    const send = await start();
    expect((await send("POST", `${core}/secrets`, secret(mebibyte))).code).toBe(201);
    const refused = await send("PUT", `${core}/secrets/a`, secret(mebibyte + 1));
    const message = `Secret "a" is invalid: data: Too long: may not be more than 1048576 bytes`;
    expect(refused).toMatchObject({ code: 422, reason: "Invalid", message });
  });

  test("what its kind refuses is refused by its kind, although it is too large to be stored, too", async () => {
    const send = await start();
    const refused = await send("POST", `${core}/configmaps`, configMap({ a: "x".repeat(2 * mebibyte) }));
    expect(refused.message).toContain("Too long: may not be more than 1048576 bytes");
  });

  test("any other object may have 1.5 MiB, and gets etcd's refusal", async () => {
    const send = await start();
    const account = (bytes: number) => ({
      ...{ apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "a" } },
      imagePullSecrets: [{ name: "x".repeat(bytes) }],
    });
    expect((await send("POST", `${core}/serviceaccounts`, account(1.4 * mebibyte))).code).toBe(201);
    const refused = await send("PUT", `${core}/serviceaccounts/a`, account(1.6 * mebibyte));
    expect(refused).toMatchObject({ code: 500, message: "etcdserver: request is too large" });
    expect(refused).not.toHaveProperty("reason");
  });
});

describe("duplicate JSON keys get upstream's warning", () => {
  const twice = Buffer.from(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"b":"1","b":"2"}}`);
  const strict = { query: { fieldValidation: "Strict" } };

  test("and the last of them wins", async () => {
    const send = await start();
    const answer = await send("POST", `${core}/configmaps`, twice);
    expect(answer).toMatchObject({ code: 201, data: { b: "2" } });
    expect(answer.warning).toBe(String.raw`299 - "duplicate field \"data.b\""`);
  });

  test("and a refusal when the client is strict", async () => {
    const send = await start();
    const { code, message } = await send("POST", `${core}/configmaps`, twice, strict);
    const why = `strict decoding error: duplicate field "data.b"`;
    expect([code, message]).toEqual([400, `ConfigMap in version "v1" cannot be handled as a ConfigMap: ${why}`]);
  });

  test("and come before or behind unknown fields as in the text", async () => {
    const send = await start();
    const reasonOf = async (members: string): Promise<string | undefined> => {
      const text = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},${members}}`;
      return (await send("POST", `${core}/configmaps`, Buffer.from(text), strict)).message?.split("error: ")[1];
    };
    const [unknown, twiceB] = ['unknown field "x"', 'duplicate field "data.b"'];
    expect(await reasonOf(`"x":1,"data":{"b":"1","b":"2"}`)).toBe(`${unknown}, ${twiceB}`);
    expect(await reasonOf(`"data":{"b":"1","b":"2"},"x":1`)).toBe(`${twiceB}, ${unknown}`);
    expect(await reasonOf(`"x":1,"x":{"y":1,"y":2},"data":{}`)).toBe(unknown);
  });

  test("and nothing when the client ignores them", async () => {
    const send = await start();
    const answer = await send("POST", `${core}/configmaps`, twice, { query: { fieldValidation: "Ignore" } });
    expect(answer).toMatchObject({ code: 201, warning: undefined });
  });

  test.each([
    ["application/merge-patch+json", `{"data":{"c":"1","c":"2"}}`, `duplicate field "data.c"`],
    [
      "application/json-patch+json",
      `[{"op":"test","op":"add","path":"/data/c","value":"1"}]`,
      `json patch duplicate field "[0].op"`,
    ],
  ])("in a patch (%s)", async (type, text, why) => {
    const send = await start();
    await send("POST", `${core}/configmaps`, configMap({ a: "1" }));
    const headers = { "content-type": type };
    const refused = await send("PATCH", `${core}/configmaps/a`, Buffer.from(text), { headers, ...strict });
    expect(refused.code).toBe(422);
    expect(refused.message).toContain(`strict decoding error: ${why}`);
    expect((await send("PATCH", `${core}/configmaps/a`, Buffer.from(text), { headers })).code).toBe(200);
  });

  test("in an applied text that is JSON, with the line that YAML reports", async () => {
    const send = await start();
    const headers = { "content-type": "application/apply-patch+yaml" };
    const query = { fieldManager: "me", fieldValidation: "Strict" };
    const { code, message } = await send("PATCH", `${core}/configmaps/a`, twice, { headers, query });
    expect(code).toBe(400);
    expect(message).toContain(`line 1: key "b" already set in map`);
  });
});
