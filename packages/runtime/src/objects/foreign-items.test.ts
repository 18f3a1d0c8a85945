import { expect, test } from "vitest";
import { withoutForeignItems } from "./foreign-items.ts";

const http = { name: "http", port: 80 };

test.each([
  [
    "an item more",
    {
      spec: {
        ports: [
          { ...http, protocol: "TCP" },
          { name: "admin", port: 81 },
        ],
      },
    },
  ],
  ["an item in place of ours", { spec: { ports: [{ ...http, port: 81 }] } }],
])("a list with %s is replaced, and nothing else", (_, actual) => {
  const wanted = { kind: "Service", spec: { selector: { app: "web" }, ports: [http] } };
  expect(withoutForeignItems({ kind: "Service", ...actual }, wanted)).toEqual({ spec: { ports: [http] } });
});

test("lists that hold what is wanted, and lists that nobody wants, are left alone", () => {
  const actual = { spec: { ports: [{ ...http, protocol: "TCP" }], externalIPs: ["192.0.2.1"] } };
  expect(withoutForeignItems(actual, { spec: { ports: [http] } })).toBeUndefined();
  expect(withoutForeignItems({ spec: {} }, { spec: { ports: [http] } })).toBeUndefined();
});

test("owners and finalizers are everybody's", () => {
  const actual = { metadata: { finalizers: ["a", "b"] } };
  expect(withoutForeignItems(actual, { metadata: { finalizers: ["a"] } })).toBeUndefined();
});
