import { expect, test } from "vitest";
import type { ContainerSpec } from "./container-runtime.ts";
import { withIdsOf } from "./single-id.ts";

const one = { uids: { container: 1000, host: 0, size: 1 }, gids: { container: 7, host: 0, size: 1 } };
const many = { container: 0, host: 1_900_000_000, size: 65_536 };

const spec = (user: number): ContainerSpec => ({
  id: "uid/main/0",
  image: "tools:1",
  rootDirectory: "/image",
  command: ["sh"],
  env: {},
  hostname: "web-0",
  mounts: [],
  files: {},
  runAsUser: user,
  runAsGroup: 50,
  security: { capabilities: [], noNewPrivileges: true, seccomp: "default", supplementalGroups: [50, 51] },
});

test("a pod with a range of ids gives its containers what they ask for", () => {
  expect(withIdsOf({ uids: many, gids: many }, spec(1000))).toEqual(spec(1000));
});

test("a pod with one user and one group gives its containers these", () => {
  const { runAsUser, runAsGroup, security } = withIdsOf(one, spec(1000));
  expect([runAsUser, runAsGroup, security?.supplementalGroups]).toEqual([1000, 7, []]);
  expect(security).toMatchObject({ noNewPrivileges: true, seccomp: "default" });
});

test("another user in such a pod is refused", () => {
  expect(() => withIdsOf(one, spec(0))).toThrow(
    'Cannot run container as user 0: setpoint runs as an ordinary user, and all containers of this pod run as user 1000; use one runAsUser for the pod, or run "setpoint up" as root',
  );
});
