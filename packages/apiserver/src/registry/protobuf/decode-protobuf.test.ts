import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { goFields, openApiSchemas, protobufMessages } from "../builtin/api-data.ts";
import { messageName } from "../builtin/go-encoding.ts";
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

test("every field of a message is a field in JSON, unless its own fields are", () => {
  const strays = Object.entries(openApiSchemas()).flatMap(([component, { properties }]) => {
    const message = messageName(component);
    const { n: renamed = {}, i: inlined = [] } = goFields()[message] ?? {};
    if (properties === undefined) return [];
    const names = Object.values(protobufMessages()[message] ?? {}).map(([name]) => name);
    const isStray = (name: string): boolean => !inlined.includes(name) && !((renamed[name] ?? name) in properties);
    return names.filter(isStray).map((name) => `${message}.${name}`);
  });
  expect(strays).toEqual([]);
});

/** A field of bytes, fewer than 128. */
const field = (number: number, content: string | Uint8Array): Buffer => {
  const bytes = Buffer.from(content);
  const tag = number * 8 + 2;
  const head = tag < 0x80 ? [tag] : [(tag & 0x7f) | 0x80, tag >> 7];
  return Buffer.concat([Buffer.from([...head, bytes.length]), bytes]);
};

function encoded(apiVersion: string, kind: string, object: Uint8Array): Buffer {
  const type = Buffer.concat([field(1, apiVersion), field(2, kind)]);
  return Buffer.concat([Buffer.from("k8s\0"), field(1, type), field(2, object)]);
}

test("an ephemeral container has the name and image that a pod's protobuf gives it", () => {
  const common = Buffer.concat([field(1, "debugger"), field(2, "busybox")]);
  const container = Buffer.concat([field(1, common), field(2, "app")]);
  const ephemeralContainers = [{ name: "debugger", image: "busybox", targetContainerName: "app" }];
  expect(decodeProtobuf(encoded("v1", "Pod", field(2, field(34, container))))).toMatchObject({
    spec: { ephemeralContainers },
  });
});

test("an element of a map of times that has no time is null", () => {
  const status = field(2, field(1, "a"));
  expect(decodeProtobuf(encoded("policy/v1", "PodDisruptionBudget", field(3, status)))).toMatchObject({
    status: { disruptedPods: { a: null } },
  });
});
