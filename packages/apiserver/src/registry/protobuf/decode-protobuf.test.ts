import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { decodeProtobuf } from "./decode-protobuf.ts";

const bodies = JSON.parse(
  readFileSync(new URL("./fixtures/kubectl-bodies.json", import.meta.url), "utf8"),
) as readonly {
  readonly request: string;
  readonly body: string;
}[];

function bodyOf(ending: string): Record<string, unknown> {
  const found = bodies.find(({ request }) => request.endsWith(ending));
  return decodeProtobuf(Buffer.from(found?.body ?? "", "base64"));
}

test("replicas of zero survive, zeros that nobody meant do not", () => {
  expect(bodyOf("/deployments")).toEqual({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "d1", namespace: "rec", labels: { app: "d1" } },
    spec: {
      replicas: 0,
      selector: { matchLabels: { app: "d1" } },
      strategy: {},
      template: {
        metadata: { labels: { app: "d1" } },
        spec: { containers: [{ name: "nginx", image: "nginx", ports: [{ containerPort: 80 }], resources: {} }] },
      },
    },
    status: {},
  });
});

test("bytes become base64, quantities and ports their JSON forms", () => {
  expect(bodyOf("/secrets")).toMatchObject({ data: { p: "cQ==" } });
  expect(bodyOf("/resourcequotas")).toMatchObject({ spec: { hard: { cpu: "1", pods: "2" } } });
  expect(bodyOf("/services")).toMatchObject({ spec: { ports: [{ port: 80, targetPort: 8080 }] } });
});

test("a body that is cut off anywhere is refused or shorter, never a crash of another kind", () => {
  const whole = Buffer.from(bodies.find(({ request }) => request.endsWith("/deployments"))?.body ?? "", "base64");
  for (let length = 0; length < whole.length; length++) {
    try {
      decodeProtobuf(whole.subarray(0, length));
    } catch (error) {
      expect(error).toMatchObject({ code: "ERR_PROTOBUF" });
    }
  }
});
