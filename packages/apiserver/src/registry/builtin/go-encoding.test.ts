import { expect, test } from "vitest";
import { encodeAsGo } from "./go-encoding.ts";

function encoded(pod: Record<string, unknown>): Record<string, unknown> {
  encodeAsGo("io.k8s.api.core.v1.Pod", pod);
  return pod;
}

test("a required text that is absent is written as empty in a status, and stays absent outside of it", () => {
  expect(encoded({ spec: { containers: [{}] }, status: { containerStatuses: [{}] } })).toStrictEqual({
    metadata: {},
    spec: { containers: [{ resources: {} }] },
    status: {
      containerStatuses: [
        { name: "", ready: false, restartCount: 0, image: "", imageID: "", state: {}, lastState: {} },
      ],
    },
  });
});

test("quantities are written in their canonical form, in maps and alone", () => {
  const spec = {
    containers: [{ name: "c", resources: { limits: { cpu: "1000m", memory: "1024Mi" } } }],
    volumes: [{ name: "v", emptyDir: { sizeLimit: "2048Ki" } }],
  };
  expect(encoded({ spec })["spec"]).toMatchObject({
    containers: [{ resources: { limits: { cpu: "1", memory: "1Gi" } } }],
    volumes: [{ emptyDir: { sizeLimit: "2Mi" } }],
  });
});

test("what is empty is left out, unless Go has a pointer to it or always writes it", () => {
  const container = { name: "", image: "", args: [], securityContext: {}, stdin: false };
  expect(encoded({ metadata: { labels: {} }, spec: { containers: [container], priority: 0 } })).toStrictEqual({
    metadata: {},
    spec: { containers: [{ name: "", resources: {}, securityContext: {} }], priority: 0 },
    status: {},
  });
});
