/** Stock kubectl in a pseudo-terminal: commands in pods that are typed into. */
import { startCluster } from "@setpoint/cli";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { Kubectl } from "./kubectl/kubectl.ts";
import { Terminal } from "./kubectl/terminal.ts";

const stack = new AsyncDisposableStack();
let kubectl: Kubectl;

beforeAll(async () => {
  const cluster = stack.use(await startCluster({ directory: undefined, port: 0, nodes: 1, say: () => {} }));
  kubectl = stack.use(new Kubectl(cluster.kubeconfig));
  await kubectl.ok("run shell --image=busybox -- sleep 1000");
  await kubectl.ok("wait pod/shell --for=condition=Ready --timeout=60s", [], { timeoutMs: 70_000 });
});
afterAll(() => stack.disposeAsync());

const size = { rows: 33, columns: 91 };

/** The terminal of a command, and a poll of what it shows. */
function terminal(command: string, more: readonly string[] = []) {
  const opened = new Terminal(kubectl, [...command.split(" "), ...more], size);
  onTestFinished(() => opened[Symbol.dispose]());
  const shows = (): ReturnType<typeof expect.poll> => expect.poll(() => opened.shown, { timeout: 20_000 });
  return { opened, shows };
}

test.each(["true", "false"])(
  "exec -it has a terminal that follows the window, and gives the exit code (WebSocket: %s)",
  async (isWebSocket) => {
    using _ = setEnvironment(isWebSocket);
    const { opened, shows } = terminal("exec -it shell -- sh");
    await shows().toContain("# ");
    opened.type("stty size; tty\n");
    await shows().toMatch(/33 91\r\n\/dev\/pts\/\d+\r\n/);
    opened.type(`sh -c "trap 'echo now \\$(stty size); exit' WINCH; echo wai''ting; while :; do sleep 0.1; done"\n`);
    await shows().toContain("waiting\r\n");
    opened.resize({ rows: 40, columns: 120 });
    await shows().toContain("now 40 120\r\n");
    opened.type("echo sleep''ing; sleep 1000\n");
    await shows().toContain("sleeping\r\n");
    opened.type("\u0003");
    await shows().toMatch(/sleeping\r\n\^C\r\n.*# /s);
    opened.type("echo ended with $?\n");
    await shows().toContain("ended with 130\r\n");
    opened.type("exit 7\n");
    expect(await opened.exited).toBe(7);
    expect(opened.shown).toContain("command terminated with exit code 7");
  },
);

/** kubectl falls back to SPDY for servers that have no WebSocket. */
function setEnvironment(isWebSocket: string): Disposable {
  const env = kubectl.env as Record<string, string>;
  env["KUBECTL_REMOTE_COMMAND_WEBSOCKETS"] = isWebSocket;
  return { [Symbol.dispose]: () => void delete env["KUBECTL_REMOTE_COMMAND_WEBSOCKETS"] };
}

test("exec over SPDY carries input, both outputs and the exit code", async () => {
  const script = "cat; echo out; echo err >&2; exit 3";
  const env = { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: "false" };
  expect(await kubectl.run("exec -i shell -- sh -c", [script], { input: "typed ", env })).toEqual({
    code: 3,
    stdout: "typed out\n",
    stderr: expect.stringMatching(/^err\ncommand terminated with exit code 3\n$/),
  });
});

test("run -it --rm is a shell in a pod of its own, which goes with it", async () => {
  // The next try of this test needs the name.
  onTestFinished(async () => void (await kubectl.run("delete pod once --now --ignore-not-found")));
  const { opened, shows } = terminal("run once -it --rm --restart=Never --image=busybox -- sh");
  await shows().toMatch(/If you don't see a command prompt|# /);
  // kubectl sends the size of the window on a stream of its own: what is typed at once may overtake it.
  const shown = (): string => {
    opened.type("stty size\n");
    return opened.shown;
  };
  await expect.poll(shown, { timeout: 20_000, interval: 1_000 }).toContain("33 91\r\n");
  opened.type("exit 3\n");
  expect(await opened.exited).toBe(3);
  expect(opened.shown).toContain('pod "once" deleted');
});

test("attach shows what a container writes from now on, and gives it input", async () => {
  const script = "echo before; while read line; do echo got $line; done; echo over";
  const reader = { name: "reader", image: "busybox", stdin: true, command: ["sh", "-c", script] };
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "reader" }, spec: { containers: [reader] } };
  await kubectl.ok("apply -f -", [], { input: JSON.stringify(pod) });
  await kubectl.ok("wait pod/reader --for=condition=Ready --timeout=30s");
  await expect.poll(() => kubectl.ok("logs reader"), { timeout: 10_000 }).toBe("before\n");
  const { code, stdout } = await kubectl.run("attach -i reader", [], { input: "one\ntwo\n", timeoutMs: 4_000 });
  // The input of this container stays open for the next client, so attach goes on.
  expect([code, stdout]).toEqual([128, "got one\ngot two\n"]);
});

test("debug -it is a shell beside the processes of a container, and --copy-to a pod of its own", async () => {
  const { opened, shows } = terminal("debug -it shell --image=busybox --target=shell -- sh");
  // The prompt may come before kubectl has joined the container.
  await shows().toMatch(/If you don't see a command prompt|# /);
  opened.type("ps | grep slee''p\n");
  await shows().toMatch(/1 +\w+ +.*sleep 1000\r\n/);
  opened.type("exit\n");
  expect(await opened.exited).toBe(0);
  const states = "get pod shell -o jsonpath={.status.ephemeralContainerStatuses[*].state.terminated.exitCode}";
  await expect.poll(() => kubectl.ok(states), { timeout: 10_000 }).toBe("0");
  await kubectl.ok("debug shell --image=busybox --copy-to=copy --container=debug -- sleep 1000");
  await kubectl.ok("wait pod/copy --for=condition=Ready --timeout=20s");
});
