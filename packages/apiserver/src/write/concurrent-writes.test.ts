/**
 * A write is decided without holding its key: what has to be true of writes that meet, in memory and on disk.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "@setpoint/host";
import { systemHost } from "@setpoint/host/system";
import { afterEach, describe, expect, test } from "vitest";
import type { AdmissionPlugin } from "../registry/admission-plugin.ts";
import { defaultAdmission } from "../admission/default-admission.ts";
import { createApiServer } from "../assembly/api-server.ts";
import { asking } from "../assembly/server.fixture.ts";
import { builtinResources } from "../registry/builtin/builtin-resources.ts";
import { createMemoryStorage } from "../storage/memory-storage.ts";
import { openSqliteStorage } from "../storage/sqlite/index.ts";
import type { Storage } from "../storage/storage.ts";

interface Seen {
  readonly message?: string;
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: { readonly clusterIP?: string };
}

const host = { ...systemHost(), log: silentLogger };
const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

function onDisk(): Storage {
  const directory = mkdtempSync(join(tmpdir(), "concurrent-writes-"));
  const storage = openSqliteStorage({ ...host, directory });
  closing.push(async () => {
    await storage[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true });
  });
  return storage;
}

const namespace = "/api/v1/namespaces/n";

async function serverOn(storage: Storage, plugins: readonly AdmissionPlugin[] = []) {
  const admission = [...defaultAdmission({ serviceAccounts: false }), ...plugins];
  const server = createApiServer({ host, storage, builtin: builtinResources(), admission });
  const ask = asking<Seen>(server, { username: "ada", groups: ["system:masters"] });
  await ask("POST", "/api/v1/namespaces", { metadata: { name: "n" } });
  return ask;
}

const count = 50;
const numbers = Array.from({ length: count }, (_, index) => index);

describe.each([
  ["memory", () => createMemoryStorage(host)],
  ["disk", onDisk],
])("in a store in %s", (_, open) => {
  test("patches of one object at the same time are all in the result", async () => {
    const ask = await serverOn(open());
    await ask("POST", `${namespace}/configmaps`, { metadata: { name: "a" } });
    const patched = await Promise.all(
      numbers.map((n) => ask("PATCH", `${namespace}/configmaps/a`, { data: { [`k${n}`]: "v" } })),
    );
    expect(new Set(patched.map(({ code }) => code))).toEqual(new Set([200]));
    const { body } = await ask("GET", `${namespace}/configmaps/a`);
    expect(Object.keys(body.data ?? {})).toHaveLength(count);
  });

  test("of creates of one name at the same time one succeeds", async () => {
    const ask = await serverOn(open());
    const created = await Promise.all(
      numbers.map(() => ask("POST", `${namespace}/configmaps`, { metadata: { name: "a" } })),
    );
    expect(created.map(({ code }) => code).toSorted((a, b) => a - b)).toEqual([
      201,
      ...Array.from({ length: count - 1 }, () => 409),
    ]);
  });

  test("creates at the same time do not exceed a quota", async () => {
    const ask = await serverOn(open());
    await ask("POST", `${namespace}/resourcequotas`, { metadata: { name: "q" }, spec: { hard: { configmaps: "3" } } });
    const created = await Promise.all(
      numbers.map((n) => ask("POST", `${namespace}/configmaps`, { metadata: { name: `c${n}` } })),
    );
    expect(created.filter(({ code }) => code === 201)).toHaveLength(3);
    expect(created.filter(({ code }) => code === 403)).toHaveLength(count - 3);
  });

  test("an update of a state that changed meanwhile is a conflict", async () => {
    const ask = await serverOn(open());
    await ask("POST", `${namespace}/configmaps`, { metadata: { name: "a" } });
    const { body } = await ask("GET", `${namespace}/configmaps/a`);
    const put = (value: string) => ask("PUT", `${namespace}/configmaps/a`, { ...body, data: { value } });
    const updated = await Promise.all([put("1"), put("2"), put("3")]);
    expect(updated.map(({ code }) => code).toSorted((a, b) => a - b)).toEqual([200, 409, 409]);
  });

  test("what admission allows before its namespace goes is not created after it", async () => {
    const gate = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const slow: AdmissionPlugin = {
      name: "Slow",
      async validate({ definition }) {
        if (definition.resource !== "configmaps") return;
        reached.resolve();
        await gate.promise;
      },
    };
    const ask = await serverOn(open(), [slow]);
    const created = ask("POST", `${namespace}/configmaps`, { metadata: { name: "a" } });
    await reached.promise;
    await ask("DELETE", namespace);
    gate.resolve();
    expect((await created).code).toBe(403);
  });
});

test("Services created at the same time do not share an address that they name", async () => {
  const ask = await serverOn(createMemoryStorage(host));
  const service = (name: string) =>
    ask("POST", `${namespace}/services`, {
      metadata: { name },
      spec: { clusterIP: "127.96.0.9", ports: [{ port: 80 }] },
    });
  const created = await Promise.all([service("a"), service("b")]);
  expect(created.map(({ code }) => code).toSorted((a, b) => a - b)).toEqual([201, 422]);
});
