/** Numbers that a field cannot hold, sent as text: no client library stands between. */
import { expect, test } from "vitest";
import { Target } from "./target.ts";

const deployments = "/apis/apps/v1/namespaces/default/deployments";
const template = '{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"a","image":"a"}]}}';
const deployment = (name: string, replicas: string): string =>
  `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"${name}"},"spec":{"replicas":${replicas},"selector":{"matchLabels":{"a":"b"}},"template":${template}}}`;
const json = "application/json";

test("numbers out of range are refused in every way of writing, in the words of a real server", async () => {
  await using target = await Target.start();
  const send = (method: string, path: string, body: string, type = json) =>
    target.raw({ method, path, body, as: "admin", headers: { "content-type": type } });
  for (const replicas of ["2147483648", "1000000000000000", "-2147483649", "1e300"]) {
    const { status, body } = await send("POST", deployments, deployment("large", replicas));
    expect(status).toBe(400);
    expect(body).toContain("into Go struct field DeploymentSpec.spec.replicas of type int32");
  }
  expect((await send("POST", deployments, deployment("small", "0"))).status).toBe(201);
  const path = `${deployments}/small`;
  const large = '{"spec":{"replicas":2147483648}}';
  const patch = '[{"op":"replace","path":"/spec/replicas","value":2147483648}]';
  const answers = [
    await send("PUT", path, deployment("small", "2147483648")),
    await send("PATCH", path, large, "application/merge-patch+json"),
    await send("PATCH", path, large, "application/strategic-merge-patch+json"),
    await send("PATCH", path, patch, "application/json-patch+json"),
    await send(
      "PATCH",
      `${path}?fieldManager=me&force=true`,
      deployment("small", "2147483648"),
      "application/apply-patch+yaml",
    ),
    await send("PATCH", `${path}/scale`, large, "application/merge-patch+json"),
  ];
  for (const { status } of answers) {
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
  }
  expect(JSON.parse((await target.raw({ path, as: "admin" })).body)).toMatchObject({ spec: { replicas: 0 } });
});
