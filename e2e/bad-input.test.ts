/**
 * Mistakes of users and the messages for them: the cluster stays as it was, and no process is left running.
 */
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ClusterWithKubectl, startClusterWithKubectl } from "./kubectl/cluster.ts";
import { etcd } from "./kubectl/manifests.ts";
import { type Attempt, attemptExample, setpointUp, temporaryFolder } from "./setpoint/setpoint-up.ts";

describe("a spec that cannot be had is refused by kubectl apply, with the field's path", () => {
  let cluster: ClusterWithKubectl;
  beforeAll(async () => {
    cluster = await startClusterWithKubectl();
    await cluster.kubectl.ok("apply -f -", [], { input: etcd("orders", orders) });
    await cluster.kubectl.ok("wait --for=jsonpath={.status.phase}=Running etcdcluster/orders --timeout=60s");
  });
  afterAll(() => cluster?.[Symbol.asyncDispose]());

  const orders = "size: 1, version: 3.5.16, volumeClaimTemplate: {resources: {requests: {storage: 64Mi}}}";
  const version = "version: 3.5.16";
  const long = "x".repeat(60);

  async function specs(): Promise<string> {
    return cluster.kubectl.ok("get etcdclusters -A -o jsonpath={.items[*].spec}");
  }

  test.each([
    ["size 0", `size: 0, ${version}`, 'spec.size: Unsupported value: 0: supported values: "1", "3", "5", "7"'],
    ["size 2", `size: 2, ${version}`, 'spec.size: Unsupported value: 2: supported values: "1", "3", "5", "7"'],
    ["size 8", `size: 8, ${version}`, 'spec.size: Unsupported value: 8: supported values: "1", "3", "5", "7"'],
    ["size three", `size: three, ${version}`, 'spec.size in body must be of type integer: "string"'],
    ["no version", "size: 1", "spec.version: Required value"],
    ["version latest", "version: latest", 'spec.version: Invalid value: "latest": spec.version in body should match'],
    [
      "version 2.3.8",
      "version: 2.3.8",
      'spec.version: Invalid value: "2.3.8": supported versions are 3.4.x, 3.5.x and 3.6.x',
    ],
    [
      "a claim template without a size",
      `${version}, volumeClaimTemplate: {resources: {requests: {}}}`,
      "spec.volumeClaimTemplate.resources.requests.storage: Required value",
    ],
    [
      "an option that is not for users",
      `${version}, options: {name: x}`,
      "spec.options: Invalid value: only options that tune a member can be set",
    ],
    ["an unknown field", `${version}, colour: red`, 'strict decoding error: unknown field "spec.colour"'],
  ])("%s", async (_, spec, message) => {
    const before = await specs();
    const { code, stderr } = await cluster.kubectl.run("apply -f -", [], { input: etcd("fresh", spec) });
    expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
    expect(await specs()).toBe(before);
  });

  test("a name too long for its members", async () => {
    const { code, stderr } = await cluster.kubectl.run("apply -f -", [], { input: etcd(long, version) });
    expect([code, stderr]).toEqual([1, expect.stringContaining("the name may have at most 52 characters")]);
  });

  test.each([
    [
      "a downgrade over a minor",
      orders.replace("3.5.16", "3.4.23"),
      "spec.version: Invalid value: members run a newer version, and etcd cannot be downgraded",
    ],
    [
      "a downgrade within a minor",
      orders.replace("3.5.16", "3.5.15"),
      "spec.version: Invalid value: members run a newer version, and etcd cannot be downgraded",
    ],
    [
      "a jump over a minor",
      orders.replace("3.5.16", "3.7.0"),
      "spec.version: Invalid value: an upgrade may not jump over a minor version",
    ],
    [
      "smaller volumes",
      orders.replace("64Mi", "63Mi"),
      "spec.volumeClaimTemplate: Invalid value: members keep the volumes that they were made with: only the storage of volumeClaimTemplate may change, and only grow",
    ],
    [
      "no volumes any more",
      version,
      "spec.volumeClaimTemplate: Invalid value: members keep the volumes that they were made with: a cluster with volumes needs a plan or volumeClaimTemplate, and one without volumes cannot get either",
    ],
  ])("of a running cluster: %s", async (_, spec, message) => {
    const before = await specs();
    const { code, stderr } = await cluster.kubectl.run("apply -f -", [], { input: etcd("orders", spec) });
    expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
    expect(await specs()).toBe(before);
  });

  test("another name", async () => {
    const patch = ['{"metadata":{"name":"other"}}'];
    const { code, stderr } = await cluster.kubectl.run("patch etcdcluster orders --type=merge -p", patch);
    expect([code, stderr]).toEqual([
      1,
      "Error from server (BadRequest): the name of the object (other) does not match the name on the URL (orders)\n",
    ]);
  });

  test("a condition reports that another owner has the Service name, and that owner keeps its Service", async () => {
    const { kubectl } = cluster;
    await kubectl.ok("create service clusterip taken-client --tcp=80:80");
    const before = await kubectl.ok("get service taken-client -o jsonpath={.metadata.uid}{.spec}");
    await kubectl.ok("apply -f -", [], { input: etcd("taken", `size: 1, ${version}`) });
    await kubectl.ok("wait --for=jsonpath={.status.phase}=Failed etcdcluster/taken --timeout=20s");
    const conditions = await kubectl.ok("get etcdcluster taken -o jsonpath={.status.conditions[*].message}");
    expect(conditions).toContain("taken-client");
    expect(await kubectl.ok("get service taken-client -o jsonpath={.metadata.uid}{.spec}")).toBe(before);
    expect(await kubectl.ok("get pods -l etcd.setpoint.dev/cluster=taken -o name")).toBe("");
    await kubectl.ok("delete etcdcluster taken --timeout=20s");
    await kubectl.ok("delete service taken-client");
  });
});

describe("a start that cannot be is one sentence and an exit code", () => {
  /** One sentence, no stack, and the process is gone: its exit code says so. */
  function expectRefusal({ code, stderr }: Attempt, sentence: RegExp, exitCode = 1): void {
    expect(stderr.trimEnd().split("\n")).toEqual([expect.stringMatching(sentence)]);
    expect(code).toBe(exitCode);
  }

  test.each([
    [["--port", "99999"], /^Cannot use --port 99999: expected a whole number from 0 to 65535$/],
    [["--port", "http"], /^Cannot use --port http: expected a whole number/],
    [["--nodes", "-1"], /^Cannot start: Option '--nodes' argument is ambiguous|^Cannot use --nodes -1/],
    [["--nodes", "99"], /^Cannot use --nodes 99: expected a whole number from 0 to 10$/],
    [["--frob"], /^Cannot start: Unknown option '--frob'/],
    [["cluster"], /^Cannot start: Unexpected argument 'cluster'/],
    [["--in-memory", "--data-dir", "x"], /^Cannot use --in-memory with --data-dir/],
  ])("flags %j", async (flags, sentence) => {
    const { code, stderr } = await setpointUp(flags);
    // After the sentence, how the command is called.
    expect(stderr.split("\n")[0]).toMatch(sentence);
    expect(stderr).not.toContain("    at ");
    expect(code).toBe(2);
  });

  test("a port that another process listens on", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => other.once("listening", resolve));
    const address = other.address();
    const port = typeof address === "object" ? (address?.port ?? 0) : 0;
    const attempt = await setpointUp(["--in-memory", "--nodes", "0", "--port", String(port)]);
    other.close();
    expectRefusal(attempt, new RegExp(`^Cannot listen on 127.0.0.1:${port}: another process does`));
  });

  test("a data directory that another process uses", async () => {
    const folder = temporaryFolder();
    await using first = await setpointUp.ready(["--data-dir", folder, "--nodes", "0"]);
    expectRefusal(
      await setpointUp(["--data-dir", folder, "--nodes", "0"]),
      /^Cannot start from ".*": another process uses it/,
    );
    expect(first.isRunning()).toBe(true);
  });

  test("a data directory that is a file, a kubeconfig in a folder that is a file", async () => {
    const file = join(temporaryFolder(), "file");
    writeFileSync(file, "");
    expectRefusal(await setpointUp(["--data-dir", file]), /^Cannot use ".*" as data directory/);
    expectRefusal(
      await setpointUp(["--in-memory", "--kubeconfig", join(file, "k")]),
      /^Cannot use ".*" as the kubeconfig's folder/,
    );
  });

  test("a data directory that is damaged, and stays as it is", async () => {
    const folder = temporaryFolder();
    const sound = join(folder, "sound");
    // A range of addresses that no cluster beside this test takes while none of ours runs: the lowest free
    // ones go first.
    mkdirSync(sound);
    writeFileSync(join(sound, "service-block"), "231");
    await (await setpointUp.ready(["--data-dir", sound, "--nodes", "0"]))[Symbol.asyncDispose]();
    const store = join(folder, "store");
    cpSync(sound, store, { recursive: true });
    writeFileSync(join(store, "store/state.db"), "nonsense");
    const { code, stderr } = await setpointUp(["--data-dir", store, "--nodes", "0"]);
    // Each finding has a line, and the last one says what to run.
    expect(stderr).toContain(`Run "setpoint store check --data-dir ${store}" for all findings`);
    expect(stderr).toMatch(
      /^Cannot serve the store in ".*": it is damaged:\n  state.db: it is not a sound database\nRun "setpoint store check .*\n$/,
    );
    expect(code).toBe(1);
    for (const [file, sentence] of [
      ["pki/ca.key", /^Cannot read the keys in ".*": they are damaged; restore them from a copy/],
      ["pki/service-accounts.key", /^Cannot read the keys in ".*": they are damaged/],
      ["service-block", /^Cannot read ".*service-block": it holds "nonsense"/],
    ] as const) {
      const damaged = join(folder, file.replaceAll("/", "-"));
      cpSync(sound, damaged, { recursive: true });
      writeFileSync(join(damaged, file), "nonsense");
      expectRefusal(await setpointUp(["--data-dir", damaged, "--nodes", "0"]), sentence);
    }
    await (await setpointUp.ready(["--data-dir", sound, "--nodes", "0"]))[Symbol.asyncDispose]();
  });

  test("a first start without network ends with what is missing", async () => {
    const folder = temporaryFolder();
    const env = { SETPOINT_DEBIAN_MIRROR: "http://127.0.0.1:1/debian", XDG_CACHE_HOME: folder };
    const attempt = await attemptExample(["--in-memory", "--kubeconfig", join(folder, "kubeconfig")], env);
    expectRefusal(
      attempt,
      /^Cannot fetch packages .*: the mirror http:\/\/127.0.0.1:1\/debian cannot be reached; connect this machine/,
    );
  });
});
