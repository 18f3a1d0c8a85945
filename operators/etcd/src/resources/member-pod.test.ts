import { expect, test } from "vitest";
import { cluster } from "../plan/situation.fixture.ts";
import { memberPod } from "./member-pod.ts";

function addressesOf(hasLoopback: boolean): readonly string[] {
  const options = { version: "3.5.16", initialCluster: ["a"], state: "new", pinnedImages: new Map() } as const;
  const pod = memberPod(cluster(), { member: "a", hasLoopback, ...options });
  return (pod.spec?.containers[0]?.args ?? []).filter((arg) => /^--listen-(client|metrics)-urls=/.test(arg));
}

test("a member listens where a forwarded port ends: kubectl port-forward connects to the pod's loopback address", () => {
  expect(addressesOf(true)).toEqual([
    "--listen-client-urls=http://$(POD_IP):2379,http://127.0.0.1:2379",
    "--listen-metrics-urls=http://$(POD_IP):2381,http://127.0.0.1:2381",
  ]);
});

test("a member whose pod shares the loopback network of its host listens at its own address alone", () => {
  expect(addressesOf(false)).toEqual([
    "--listen-client-urls=http://$(POD_IP):2379",
    "--listen-metrics-urls=http://$(POD_IP):2381",
  ]);
});
