import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@setpoint/host/system";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { resolveConnection } from "./connect.ts";
import { execCredential } from "./exec-credential.ts";
import { loadKubeconfig, parseKubeconfig, selectContext, writeKubeconfig } from "./kubeconfig.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "setpoint-kubeconfig-")));
const folderBefore = process.cwd();
process.chdir(folder);
afterAll(() => {
  process.chdir(folderBefore);
  rmSync(folder, { recursive: true });
});

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const written = writeKubeconfig({
  server: "https://127.0.0.1:6443",
  ca: "CA",
  cert: "CERT",
  key: "KEY",
  context: "setpoint",
});

test("a written kubeconfig is read back as the same connection", () => {
  const kubeconfig = file("written", written);
  const { connection, namespace } = resolveConnection({ clock: systemClock, kubeconfig });
  expect(connection).toMatchObject({ server: "https://127.0.0.1:6443", ca: "CA", cert: "CERT", key: "KEY" });
  expect(namespace).toBe("default");
});

test("of the files of KUBECONFIG the first wins, and files that do not exist are left out", () => {
  const first = file("first", "current-context: b\nclusters: [{name: c, cluster: {server: 'https://one'}}]\n");
  const second = file(
    "second",
    "current-context: a\nclusters: [{name: c, cluster: {server: 'https://two'}}]\n" +
      "contexts: [{name: b, context: {cluster: c, user: u, namespace: shop}}]\nusers: [{name: u, user: {token: t}}]\n",
  );
  const config = loadKubeconfig({ env: { KUBECONFIG: `${first}:${join(folder, "none")}:${second}` } });
  expect(selectContext(config, undefined)).toEqual({
    name: "b",
    namespace: "shop",
    cluster: { server: "https://one" },
    user: { token: "t" },
  });
});

const pem = Buffer.from("certificate ".repeat(100)).toString("base64");

test.each([
  ["a line", `    client-certificate-data: ${pem}\n`],
  ["a quoted line", `    client-certificate-data: "${pem}"\n`],
  ["a line with a quoted key", `    'client-certificate-data':  '${pem}' # and a comment\n`],
  ["two lines", `    client-certificate-data: "${pem.slice(0, 700)}\\\n      ${pem.slice(700)}"\n`],
  ["a block", `    client-certificate-data: |-\n      ${pem}\n`],
])("a certificate that is written as %s is read whole, and what stands around it too", (_, line) => {
  const text = `users:\n- name: u\n  user:\n    token: before\n${line}    tokenFile: /after\n`;
  const { users } = parseKubeconfig(text, "/config");
  expect(users.get("u")).toEqual({ token: "before", "client-certificate-data": pem, tokenFile: "/after" });
});

test("a certificate in braces is read whole, even beside a text like the one that stands for it meanwhile", () => {
  const user = (token: string): unknown =>
    parseKubeconfig(`users: [{name: u, user: {client-key-data: ${pem}, token: ${token}}}]`, "/config").users.get("u");
  expect(user("t")).toEqual({ "client-key-data": pem, token: "t" });
  expect(user("setpoint-long-data-0.")).toEqual({ "client-key-data": pem, token: "setpoint-long-data-0." });
});

test("relative paths are relative to the file that names them", () => {
  file("ca.pem", "THE CA");
  const kubeconfig = file(
    "relative",
    "current-context: a\nclusters: [{name: c, cluster: {server: 'https://one', certificate-authority: ca.pem}}]\n" +
      "contexts: [{name: a, context: {cluster: c}}]\n",
  );
  expect(resolveConnection({ clock: systemClock, kubeconfig }).connection.ca).toBe("THE CA");
});

test("a kubeconfig in UTF-16 is read, and one in another encoding is refused by its name", () => {
  const utf16 = file("utf16", "");
  writeFileSync(utf16, Buffer.from(`\ufeff${written}`, "utf16le"));
  expect(loadKubeconfig({ path: utf16 }).currentContext).toBe("setpoint");
  writeFileSync(utf16, Buffer.from(written, "utf16le"));
  const why = "the text is UTF-16LE without a byte order mark, expected UTF-8";
  expect(() => loadKubeconfig({ path: utf16 })).toThrow(`Cannot read kubeconfig "${utf16}": ${why}`);
});

test("an unknown context is refused with the names of those that are there", () => {
  const kubeconfig = file("contexts", written);
  expect(() => resolveConnection({ clock: systemClock, kubeconfig, context: "prod" })).toThrow(
    `Cannot use context "prod": kubeconfig (${kubeconfig}) has [setpoint]`,
  );
});

describe("24 2.7: a bad KUBECONFIG is named, with what is wrong and what to do", () => {
  const useOther = "name a kubeconfig file with --kubeconfig or KUBECONFIG";
  const context = "current-context: a\ncontexts: [{name: a, context: {cluster: c, user: u}}]\n";
  const cluster = "clusters: [{name: c, cluster: {server: 'https://one'}}]\n";

  function refusalOf(env: Readonly<Record<string, string>>): string {
    try {
      resolveConnection({ clock: systemClock, env: { HOME: "/nowhere", ...env } });
    } catch (error) {
      return (error as Error).message;
    }
    return "";
  }

  test("a file that does not exist", () => {
    expect(refusalOf({ KUBECONFIG: "/no/such/file" })).toBe(
      `Cannot find a cluster: KUBECONFIG names "/no/such/file", which does not exist; correct it, or unset it to use ~/.kube/config`,
    );
    expect(refusalOf({ KUBECONFIG: "/no/one:/no/two" })).toContain(`names "/no/one" and "/no/two", which do not exist`);
  });

  test("no KUBECONFIG and no ~/.kube/config", () => {
    expect(refusalOf({})).toBe(
      `Cannot find a cluster: "/nowhere/.kube/config" does not exist and KUBECONFIG is not set; ${useOther}, or start a cluster with "setpoint up"`,
    );
  });

  test("no KUBECONFIG, in a folder with a cluster of its own", () => {
    mkdirSync(join(folder, ".setpoint"));
    onTestFinished(() => rmSync(join(folder, ".setpoint"), { recursive: true }));
    const path = file(".setpoint/kubeconfig", "");
    expect(refusalOf({})).toContain(
      `for the cluster that "setpoint up" starts in this folder, run: export KUBECONFIG="${path}"`,
    );
  });

  test.each([
    ["text", "hello", `it has no clusters, users and contexts; ${useOther}`],
    ["a list", "[1, 2]", `it has no clusters, users and contexts; ${useOther}`],
    ["no YAML", "a: [", "it is not YAML"],
  ])("a file with %s", (name, text, why) => {
    const path = file(`bad-${name.replace(" ", "-")}`, text);
    expect(refusalOf({ KUBECONFIG: path })).toBe(`Cannot read kubeconfig "${path}": ${why}`);
  });

  test("a folder", () => {
    expect(refusalOf({ KUBECONFIG: folder })).toBe(`Cannot read kubeconfig "${folder}": it is a folder; ${useOther}`);
  });

  test.each([
    ["nothing", "", "Cannot find a cluster: kubeconfig (PATH) has no contexts; "],
    [
      "no current context",
      cluster + context.slice(19),
      "kubeconfig (PATH) has no current-context, expected one of [a]",
    ],
    ["no such cluster", context, `Cannot use context "a": its cluster "c" is not in kubeconfig (PATH)`],
    ["no such user", context + cluster, `Cannot use context "a": its user "u" is not in kubeconfig (PATH)`],
    [
      "a server that is no URL",
      `${context}users: [{name: u, user: {}}]\n${cluster.replace("https://one", "one:6443")}`,
      `Cannot use context "a": the server of its cluster is "one:6443", expected a URL such as https://127.0.0.1:6443`,
    ],
  ])("a kubeconfig with %s", (name, text, why) => {
    const path = file(`lacks-${name.replaceAll(" ", "-")}`, text);
    expect(refusalOf({ KUBECONFIG: path })).toContain(why.replace("PATH", path));
  });
});

test("a proxy is that of the cluster, else that of the environment", () => {
  const named = file("proxy", written.replace("server:", "proxy-url: http://proxy:3128\n      server:"));
  const proxyOf = (kubeconfig: string, env: Record<string, string>): string | undefined =>
    resolveConnection({ clock: systemClock, kubeconfig, env }).connection.proxy;
  expect(proxyOf(named, { HTTPS_PROXY: "http://other" })).toBe("http://proxy:3128");
  const far = file("far", written.replace(/server: .*/, "server: https://api.example.com:6443"));
  expect(proxyOf(far, { HTTPS_PROXY: "corp:8080" })).toBe("http://corp:8080");
  expect(proxyOf(far, { https_proxy: "http://corp:8080", NO_PROXY: "other.com,example.com" })).toBeUndefined();
  const socks = file("socks", written.replace("server:", "proxy-url: socks5://proxy\n      server:"));
  expect(() => proxyOf(socks, {})).toThrow(
    'Cannot use context "setpoint": its proxy-url is "socks5://proxy", expected http:// or https://',
  );
});

test("the command of an exec plugin is relative to the kubeconfig that names it, unless PATH has it", async () => {
  mkdirSync(join(folder, "elsewhere", "sub"), { recursive: true });
  const status = { token: "t" };
  const answer = JSON.stringify({ apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status });
  writeFileSync(join(folder, "elsewhere", "sub", "token.sh"), `#!/bin/sh\necho '${answer}'\n`, { mode: 0o755 });
  const commandOf = (command: string): string | undefined => {
    const exec = `{apiVersion: client.authentication.k8s.io/v1, command: ${command}}`;
    const path = file(join("elsewhere", "config"), `users: [{name: a, user: {exec: ${exec}}}]\n`);
    return loadKubeconfig({ path }).users.get("a")?.exec?.command;
  };
  const command = commandOf("sub/token.sh") ?? "";
  expect(command).toBe(join(folder, "elsewhere", "sub", "token.sh"));
  const spec = { apiVersion: "client.authentication.k8s.io/v1", command };
  expect(await execCredential({ clock: systemClock, spec })(false)).toEqual(status);
  expect(commandOf("./sub/../token.sh")).toBe(join(folder, "elsewhere", "token.sh"));
  expect(["token.sh", "/bin/token.sh"].map(commandOf)).toEqual(["token.sh", "/bin/token.sh"]);
});

test("an exec plugin is asked once, again when told to refresh, and its error is shown", async () => {
  const apiVersion = "client.authentication.k8s.io/v1";
  const script = `const fs = require("fs"); const p = process.argv[1]; const n = fs.existsSync(p) ? Number(fs.readFileSync(p)) + 1 : 1;
    fs.writeFileSync(p, String(n)); console.log(JSON.stringify({ apiVersion: "${apiVersion}", kind: "ExecCredential", status: { token: "t" + n } }))`;
  const spec = { apiVersion, command: process.execPath, args: ["-e", script, join(folder, "counter")] };
  const credential = execCredential({ clock: systemClock, spec });
  expect(await credential(false)).toEqual({ token: "t1" });
  expect(await credential(false)).toEqual({ token: "t1" });
  expect(await credential(true)).toEqual({ token: "t2" });
  // Requests that come together, as at a start or after a refusal, wait for one run.
  expect(await Promise.all([credential(true), credential(true)])).toEqual([{ token: "t3" }, { token: "t3" }]);
  const broken = execCredential({
    clock: systemClock,
    spec: { ...spec, args: ["-e", "console.error('no login'); process.exit(1)"] },
  });
  await expect(broken(false)).rejects.toThrow("no login");
});
