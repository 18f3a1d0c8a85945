import type { Pod, PodSpec } from "@setpoint/api";
import { expect, test } from "vitest";
import { podHostFiles } from "./pod-host-files.ts";
import { createServiceTable } from "./service-table.ts";

const table = createServiceTable(
  () => [],
  () => [],
);

function files(spec: Partial<PodSpec>): Record<string, string> {
  const pod: Pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", namespace: "shop" },
    spec: { containers: [], ...spec },
  };
  return podHostFiles(pod, { podIP: "10.64.0.2", dnsAddress: "10.96.0.10", nodeName: "node-1", table });
}

const search = "search shop.svc.cluster.local svc.cluster.local cluster.local\n";

test.for<[string, Partial<PodSpec>, string]>([
  ["ClusterFirst", {}, `nameserver 10.96.0.10\n${search}options ndots:5\n`],
  ["Default", { dnsPolicy: "Default" }, "nameserver 10.96.0.10\n"],
  ["ClusterFirst on the node's network", { hostNetwork: true }, "nameserver 10.96.0.10\n"],
  [
    "ClusterFirstWithHostNet",
    { hostNetwork: true, dnsPolicy: "ClusterFirstWithHostNet" },
    `nameserver 10.96.0.10\n${search}options ndots:5\n`,
  ],
  [
    "None",
    { dnsPolicy: "None", dnsConfig: { nameservers: ["192.0.2.1"], searches: ["a.example"], options: [{ name: "x" }] } },
    "nameserver 192.0.2.1\nsearch a.example\noptions x\n",
  ],
  [
    "an option of the pod's own",
    { dnsConfig: { options: [{ name: "ndots", value: "2" }] } },
    `nameserver 10.96.0.10\n${search}options ndots:2\n`,
  ],
])("resolv.conf with %s", ([, spec, expected]) => {
  expect(files(spec)["/etc/resolv.conf"]).toBe(expected);
});

test("the hosts file names the pod, its subdomain and its aliases, below the words that clients look for", () => {
  const hostAliases = [{ ip: "192.0.2.7", hostnames: ["a", "b"] }];
  expect(files({ hostname: "first", subdomain: "all", hostAliases })["/etc/hosts"]).toBe(
    [
      "# Kubernetes-managed hosts file.",
      "127.0.0.1\tlocalhost",
      "10.64.0.2\tfirst.all.shop.svc.cluster.local\tfirst",
      "",
      "# Entries added by HostAliases.",
      "192.0.2.7\ta\tb",
      "",
    ].join("\n"),
  );
});

test("a pod on the network of its node has the name of the node", () => {
  const own = files({ hostNetwork: true });
  expect(own["/etc/hostname"]).toBe("node-1\n");
  expect(own["/etc/hosts"]).toContain("# Kubernetes-managed hosts file (host network).\n");
  expect(own["/etc/hosts"]).toContain("10.64.0.2\tnode-1\n");
});
