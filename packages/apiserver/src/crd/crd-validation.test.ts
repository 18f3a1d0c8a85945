import { invalid, type UnstructuredObject } from "@setpoint/apimachinery";
import { seededRandom, VirtualClock } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import type { WriteContext } from "../registry/resource-definition.ts";
import { crdStrategy } from "./crd-strategy.ts";
import recorded from "./fixtures/invalid-crds.json" with { type: "json" };

interface Case {
  readonly name: string;
  readonly manifest: UnstructuredObject;
  readonly status: { readonly message: string };
}

// The file holds what a real server said.
const cases = recorded as unknown as readonly Case[];

const context: WriteContext = {
  clock: new VirtualClock(seededRandom(1)),
  random: seededRandom(1),
  user: { username: "admin", groups: [] },
  subresource: "",
  dryRun: false,
  warn: () => {},
};

function messageFor(manifest: UnstructuredObject): string {
  const object = structuredClone(manifest);
  crdStrategy.setDefaults?.(object);
  crdStrategy.prepareForCreate?.(object, context);
  const errors = crdStrategy.validate?.(object, undefined, context) ?? [];
  const { message } = invalid({ group: "apiextensions.k8s.io", kind: "CustomResourceDefinition" }, object.metadata.name ?? "", errors);
  return message.replace(/Invalid value: \{"type":"object".*\}: only/, "Invalid value: <schema>: only");
}

for (const { name, manifest, status } of cases)
  test(`refuses a CRD in the words of kube-apiserver: ${name}`, () => {
    expect(messageFor(manifest)).toBe(status.message);
  });
