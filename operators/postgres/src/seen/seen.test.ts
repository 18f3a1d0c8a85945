import { Pod } from "setpoint/kinds";
import { expect, test } from "vitest";
import { podState } from "./seen.ts";

type ContainerStatus = NonNullable<NonNullable<Pod["status"]>["containerStatuses"]>[number];
type State = Pick<ContainerStatus, "state" | "lastState">;

const terminated = { exitCode: 137 };

function pod(state: State, deletionTimestamp?: string): Pod {
  const status = { name: "postgres", image: "", imageID: "", ready: false, restartCount: 0, ...state };
  const sidecar = { ...status, name: "archiver", state: { terminated } };
  const made = Pod({ name: "a-1", spec: { containers: [{ name: "postgres" }] } });
  const metadata = { ...made.metadata, ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }) };
  return { ...made, metadata, status: { containerStatuses: [sidecar, status] } };
}

test.each([
  ["has not started yet", { state: { waiting: { reason: "ContainerCreating" } } }, "starting"],
  ["runs", { state: { running: {} } }, "running"],
  ["runs again", { state: { running: {} }, lastState: { terminated } }, "running"],
  ["has ended", { state: { terminated } }, "ended"],
  ["waits for its restart", { state: { waiting: { reason: "CrashLoopBackOff" } }, lastState: { terminated } }, "ended"],
] as const)("the process of an instance that %s", (_, state, expected) => {
  expect(podState(pod(state))).toBe(expected);
});

test("a pod that is gone, or that is being deleted", () => {
  expect(podState(undefined)).toBe("missing");
  expect(podState(pod({ state: { running: {} } }, "2026-01-01T00:00:00Z"))).toBe("leaving");
});
