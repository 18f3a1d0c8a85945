import { expect, test } from "vitest";
import { specEdit } from "./spec-edit.ts";

const service = {
  apiVersion: "v1",
  kind: "Service",
  metadata: {
    name: "web",
    labels: { app: "web" },
    managedFields: [
      {
        manager: "web-operator",
        operation: "Apply" as const,
        fieldsV1: {
          "f:metadata": { "f:labels": { "f:app": {} } },
          "f:spec": {
            "f:ports": {
              'k:{"port":80,"protocol":"TCP"}': { ".": {}, "f:name": {}, "f:port": {}, "f:targetPort": {} },
            },
            "f:publishNotReadyAddresses": {},
            "f:selector": { "f:app": {} },
          },
        },
      },
      { manager: "other", operation: "Update" as const, fieldsV1: { "f:spec": { "f:healthCheckNodePort": {} } } },
    ],
  },
  spec: {
    ports: [
      { name: "admin", port: 81, protocol: "TCP", targetPort: 81 },
      { name: "http", port: 80, protocol: "TCP", targetPort: 8080 },
    ],
    publishNotReadyAddresses: true,
    selector: { app: "web" },
    healthCheckNodePort: 7,
  },
};
const managers = new Set(["web-operator"]);
const [admin, http] = service.spec.ports;

test("each value that the operator has set is changed in its turn, and no other one", () => {
  const edits = [0, 1, 2, 3].map((rank) => specEdit(service, managers, rank)?.patch);
  expect(edits).toEqual([
    { spec: { ports: [admin, { ...http, port: 81 }] } },
    { spec: { ports: [admin, { ...http, targetPort: 8081 }] } },
    { spec: { publishNotReadyAddresses: false } },
    { spec: { selector: { app: "web-edited" } } },
  ]);
  expect(specEdit(service, managers, 4)?.patch).toEqual(edits[1]);
});

test("an item of a list that gets another key is another item", () => {
  const added = [0, 1, 2, 3].map((rank) => specEdit(service, managers, rank)?.addsItem);
  expect(added).toEqual([true, false, false, false]);
});

test("there is nothing to change in an object of which nobody says that it is the operator's", () => {
  expect(specEdit(service, new Set(["nobody"]), 0)).toBeUndefined();
  expect(specEdit({ ...service, metadata: { name: "web" } }, managers, 0)).toBeUndefined();
});
