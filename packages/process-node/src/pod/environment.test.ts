import type { Container, Pod } from "@setpoint/api";
import { expect, test } from "vitest";
import { containerEnvironment, type EnvironmentSources, expandVariables, serviceVariables } from "./environment.ts";

const facts = {
  podIP: "127.64.0.2",
  hostIP: "127.64.0.1",
  nodeName: "n1",
  hostname: "web",
  cpus: 2,
  memoryBytes: 2 ** 30,
};
const data: Record<string, Record<string, string>> = {
  "ConfigMap/app": { color: "blue", size: "L" },
  "Secret/app": { password: "s3cret" },
};
const sources: EnvironmentSources = { facts, read: (kind, name) => data[`${kind}/${name}`], services: [], image: {} };

function env(container: Partial<Container>, more: Partial<EnvironmentSources> = {}): Record<string, string> {
  const it: Container = { name: "main", ...container };
  const pod: Pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", namespace: "shop", uid: "u1", labels: { app: "web" }, annotations: { "a.b/c": "d" } },
    spec: { containers: [it], serviceAccountName: "robot" },
  };
  const all = containerEnvironment(pod, it, { ...sources, ...more });
  const { PATH: _, HOSTNAME: __, ...own } = all;
  return own;
}

test.each([
  ["$(A)", "1"],
  ["x$(A)y$(B)", "x1y2"],
  ["$(NOPE)", "$(NOPE)"],
  ["$$(A)", "$(A)"],
  ["$$$(A)", "$1"],
  ["$A ${A} $", "$A ${A} $"],
  ["$(A", "$(A"],
])("%s expands to %s", (text, expected) => {
  expect(expandVariables(text, { A: "1", B: "2" })).toBe(expected);
});

test("a variable may use those before it, not those after it", () => {
  const list = [
    { name: "A", value: "1" },
    { name: "B", value: "$(A)2" },
    { name: "C", value: "$(D)" },
    { name: "D", value: "4" },
  ];
  expect(env({ env: list })).toEqual({ A: "1", B: "12", C: "$(D)", D: "4" });
});

test("values come from ConfigMaps, Secrets, fields and resources", () => {
  const field = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });
  const resource = (name: string, of: string, divisor?: string) => ({
    name,
    valueFrom: { resourceFieldRef: { resource: of, ...(divisor === undefined ? {} : { divisor }) } },
  });
  const list = [
    { name: "COLOR", valueFrom: { configMapKeyRef: { name: "app", key: "color" } } },
    { name: "PASSWORD", valueFrom: { secretKeyRef: { name: "app", key: "password" } } },
    field("IP", "status.podIP"),
    field("NODE", "spec.nodeName"),
    field("ACCOUNT", "spec.serviceAccountName"),
    field("APP", "metadata.labels['app']"),
    field("NOTE", "metadata.annotations['a.b/c']"),
    resource("CPU", "limits.cpu"),
    resource("MILLI", "requests.cpu", "1m"),
    resource("MEMORY", "limits.memory", "1Mi"),
    resource("HOST_MEMORY", "limits.ephemeral-storage"),
  ];
  const resources = { requests: { cpu: "250m" }, limits: { memory: "64Mi" } };
  expect(env({ env: list, resources })).toEqual({
    COLOR: "blue",
    PASSWORD: "s3cret",
    IP: "127.64.0.2",
    NODE: "n1",
    ACCOUNT: "robot",
    APP: "web",
    NOTE: "d",
    CPU: "2",
    MILLI: "250",
    MEMORY: "64",
    HOST_MEMORY: "0",
  });
});

test("envFrom takes all keys, with a prefix, and env wins over it", () => {
  const envFrom = [{ prefix: "APP_", configMapRef: { name: "app" } }, { secretRef: { name: "app" } }];
  expect(env({ envFrom, env: [{ name: "APP_size", value: "XL" }] })).toEqual({
    APP_color: "blue",
    APP_size: "XL",
    password: "s3cret",
  });
});

test("what is missing is refused by name unless it is optional", () => {
  const key = (more: object) => [{ name: "A", valueFrom: { configMapKeyRef: { name: "app", key: "nope", ...more } } }];
  expect(() => env({ env: key({}) })).toThrow("couldn't find key nope in ConfigMap shop/app");
  expect(env({ env: key({ optional: true }) })).toEqual({});
  expect(() => env({ envFrom: [{ secretRef: { name: "gone" } }] })).toThrow('secret "gone" not found');
  expect(env({ envFrom: [{ secretRef: { name: "gone", optional: true } }] })).toEqual({});
  expect(() => env({ env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "spec.nope" } } }] })).toThrow(
    "unsupported fieldPath: spec.nope",
  );
});

test("Services appear as the variables of Docker links", () => {
  const service = { name: "my-db", clusterIP: "127.96.0.7", ports: [{ name: "sql", port: 5432, protocol: "TCP" }] };
  expect(serviceVariables(service)).toEqual({
    MY_DB_SERVICE_HOST: "127.96.0.7",
    MY_DB_SERVICE_PORT: "5432",
    MY_DB_SERVICE_PORT_SQL: "5432",
    MY_DB_PORT: "tcp://127.96.0.7:5432",
    MY_DB_PORT_5432_TCP: "tcp://127.96.0.7:5432",
    MY_DB_PORT_5432_TCP_PROTO: "tcp",
    MY_DB_PORT_5432_TCP_PORT: "5432",
    MY_DB_PORT_5432_TCP_ADDR: "127.96.0.7",
  });
});
