import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

/** Which of Node's modules a program has loaded after its imports. */
async function loadedBy(program: string): Promise<readonly string[]> {
  const print = `console.log(JSON.stringify(process.moduleLoadList))`;
  const flags = ["--conditions=@setpoint/source", "--input-type=module", "--eval", `${program};${print}`];
  const { stdout } = await promisify(execFile)(process.execPath, flags, { cwd: import.meta.dirname });
  return JSON.parse(stdout) as string[];
}

const costly = [
  "NativeModule internal/deps/undici/undici",
  "NativeModule http",
  "NativeModule https",
  "NativeModule http2",
  "NativeModule zlib",
  "NativeModule child_process",
  "NativeModule internal/readline/interface",
  "NativeModule internal/crypto/webcrypto",
];

test("a program that imports the client and its host loads neither fetch nor Node's HTTP, compression, child processes, a line editor or the web's cryptography", async () => {
  const loaded = await loadedBy(`import "@setpoint/client/node"; import "@setpoint/host/system"`);
  expect(loaded).toContain("NativeModule tls");
  expect(costly.filter((each) => loaded.includes(each))).toEqual([]);
});

test("a request loads none of them either", async () => {
  const program = `
    import { httpTransport } from "@setpoint/client/node";
    import { systemHost } from "@setpoint/host/system";
    await using transport = httpTransport({ server: "http://127.0.0.1:1", clock: systemHost({ write: () => {} }).clock });
    await transport.send({ method: "GET", path: "/version" }).catch(() => {});`;
  const loaded = await loadedBy(program);
  expect(costly.filter((each) => loaded.includes(each))).toEqual([]);
});
