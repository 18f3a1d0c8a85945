/**
 * The npm package outside of the repository: packed, installed alone in an empty folder, and a project that
 * its command creates there. What it depends on comes from npm's registry; without one the tests are skipped.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { Kubectl } from "./kubectl/kubectl.ts";
import { missingForPods } from "./node/test-cluster.ts";
import { environment, expectStartWorks, expectTestPasses, runProgram } from "./operator-project.ts";

const root = new URL("..", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "setpoint-packed-"));
const home = join(folder, "home");
const project = join(home, "ice-cream");
const tidyUp = (): void => rmSync(folder, { recursive: true, force: true });
afterAll(tidyUp);

mkdirSync(home);
const tarball = await pack();
const without = await installReason(home, tarball);
if (without !== undefined) {
  console.warn(`skipped: the package outside of the repository: ${without}`);
  // Where all tests are skipped, nothing is run after them.
  tidyUp();
}
const outside = test.skipIf(without !== undefined);

async function pack(): Promise<string> {
  const packed = await runProgram("npm", ["run", "--silent", "pack", "--", folder], root);
  if (packed.code !== 0) throw new Error(packed.text);
  return join(folder, "setpoint-0.1.0.tgz");
}

/** Installs packages, those of `package.json` when none is named; resolves to why this machine cannot. */
async function installReason(directory: string, ...packages: readonly string[]): Promise<string | undefined> {
  // A machine without a registry shall know soon.
  const retries = ["--fetch-retries=1", "--fetch-retry-mintimeout=1000"];
  const flags = ["--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error", ...retries];
  const { code, text } = await runProgram("npm", ["install", ...flags, ...packages], directory);
  if (code === 0) return undefined;
  const offline = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED/.exec(text);
  if (offline === null) throw new Error(text);
  return `npm has no registry (${offline[0]})`;
}

outside("the installed command creates a project whose tests, types, manifests and start work", async () => {
  expect((await runProgram("npx", ["setpoint", "version"], home)).text).toMatch(/^setpoint \d/m);
  expect(await runProgram("npx", ["setpoint", "create", "operator", "ice-cream"], home)).toMatchObject({ code: 0 });
  expect(await installReason(project)).toBeUndefined();
  await expectProjectWorks();
});

outside("the installed command builds an image of the project that starts from its own files alone", async () => {
  const built = await runProgram("npm", ["run", "-s", "build", "--", "--image", "ice-cream:1"], project);
  expect(built.text).toMatch(/^Wrote .*ice-cream-operator\.tar: image ice-cream:1, sha256:[0-9a-f]{64}$/m);
  const root = join(folder, "image-root");
  mkdirSync(join(folder, "layout"));
  await runProgram("tar", ["-xf", join(project, "ice-cream-operator.tar"), "-C", join(folder, "layout")], folder);
  const { config, layer } = readLayout(join(folder, "layout"));
  mkdirSync(root);
  await runProgram("tar", ["-xf", layer, "-C", root], folder);
  expect(config).toMatchObject({ User: "65532:65532", WorkingDir: "/operator" });
  expect(existsSync(join(root, "operator/node_modules/vitest"))).toBe(false);
  // As root only: another root directory shows that nothing outside of the image is used.
  if (process.getuid?.() !== 0) return;
  const [node = "", command = "", , file = ""] = config.Entrypoint;
  expect((await runProgram("chroot", [root, node, command, "manifests", file], folder)).text).toContain("ice-cream");
});

interface ImageConfig {
  readonly Entrypoint: readonly string[];
}

function readLayout(layout: string): { readonly config: ImageConfig; readonly layer: string } {
  const read = (path: string): unknown => JSON.parse(readFileSync(join(layout, path), "utf8"));
  const [image] = read("manifest.json") as readonly { readonly Config: string; readonly Layers: readonly string[] }[];
  const { config } = read(image?.Config ?? "") as { readonly config: ImageConfig };
  return { config, layer: join(layout, image?.Layers[0] ?? "") };
}

outside("the project still works after npm install of another package", async () => {
  expect(await installReason(project, "croner")).toBeUndefined();
  expect(existsSync(join(project, "node_modules/croner"))).toBe(true);
  await expectProjectWorks();
});

async function expectProjectWorks(): Promise<void> {
  await expectTestPasses(project);
  expect(await runProgram("npm", ["run", "types"], project)).toMatchObject({ code: 0 });
  expect((await runProgram("npm", ["run", "-s", "manifests"], project)).text).toContain("kind: Deployment\n");
  await expectStartWorks(project);
}

outside.each(["^C in a terminal", "the end of npx alone"])("%s stops npx setpoint up and its cluster", async (how) => {
  await using up = await startUp();
  if (how === "^C in a terminal") process.kill(-up.pid, "SIGINT");
  else process.kill(up.pid, "SIGTERM");
  await up.closed;
  expect(up.printed()).toMatch(/SIG(INT|TERM): stopping/);
});

const missing = missingForPods();
if (missing !== "") console.warn(`skipped: the operator's image in a pod: ${missing}`);

test.skipIf(without !== undefined || missing !== "")(
  "the project's image, loaded, runs in setpoint up by the generated manifests and reconciles",
  async () => {
    const image = "registry.example.com/ice-cream:1";
    const cache = { XDG_CACHE_HOME: join(folder, "cache") };
    const archive = join(project, "ice-cream-operator.tar");
    expect(await runProgram("npm", ["run", "-s", "build", "--", "--image", image], project)).toMatchObject({ code: 0 });
    await using up = await startUp(cache);
    using kubectl = new Kubectl(readFileSync(up.kubeconfig, "utf8"));
    const loaded = await runProgram("npx", ["setpoint", "image", "load", archive], home, cache);
    expect(loaded.text).toMatch(/^Loaded registry\.example\.com\/ice-cream:1, sha256:[0-9a-f]{64}$/m);
    expect(up.printed()).toMatch(/^The nodes can run \d+ images; "setpoint image list" shows them$/m);
    const { text } = await runProgram("npm", ["run", "-s", "manifests", "--", "--image", image], project);
    await kubectl.ok(`apply --server-side -f ${kubectl.file("operator.yaml", text)}`);
    await kubectl.ok("wait --for=condition=Available deployment --all -n ice-cream-system --timeout=25s");
    const object = `{apiVersion: ice-cream.example.com/v1, kind: IceCream, metadata: {name: first}, spec: {greeting: hi}}`;
    await kubectl.ok(`apply -f ${kubectl.file("first.yaml", object)}`);
    await kubectl.ok("wait --for=create configmap/first-greeting --timeout=20s");
    expect(await kubectl.ok("get configmap first-greeting -o jsonpath={.data.greeting}")).toBe("hi");
    await kubectl.ok("delete namespace ice-cream-system --wait=false");
  },
);

interface RunningUp extends AsyncDisposable {
  readonly pid: number;
  readonly kubeconfig: string;
  /** Resolves when the last process has ended that holds its output. */
  readonly closed: Promise<void>;
  printed(): string;
}

async function startUp(env: NodeJS.ProcessEnv = {}): Promise<RunningUp> {
  const kubeconfig = join(folder, "up-kubeconfig");
  const args = ["setpoint", "up", "--in-memory", "--port", "0", "--kubeconfig", kubeconfig];
  // A group of its own, as a terminal gives it to a command.
  const child = spawn("npx", args, { cwd: home, env: environment(env), detached: true });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  }
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const pid = child.pid ?? 0;
  const up: RunningUp = {
    ...{ pid, kubeconfig, closed },
    printed: () => printed,
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGTERM");
      await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, 30_000).unref())]);
      try {
        process.kill(-pid, "SIGKILL");
      } catch {
        // All of them have ended.
      }
    },
  };
  try {
    await vi.waitFor(() => expect(printed).toContain("Ready: https://"), { timeout: 60_000 });
  } catch (error) {
    await up[Symbol.asyncDispose]();
    throw error;
  }
  return up;
}

outside("an older Node gets one sentence", async () => {
  const older = join(folder, "older-node.mjs");
  writeFileSync(older, 'Object.defineProperty(process.versions, "node", { value: "20.1.0" });');
  const setpoint = join(home, "node_modules/.bin/setpoint");
  const { code, text } = await runProgram(process.execPath, ["--import", older, setpoint, "version"], home);
  expect(text).toMatch(/^Cannot run setpoint with Node v[\d.]+: it needs Node 24 or newer; .*\n$/);
  expect(code).toBe(1);
});
