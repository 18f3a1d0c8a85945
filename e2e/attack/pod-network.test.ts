/**
 * A pod of an ordinary user against the network of the host, of the node, of other pods and of other
 * clusters.
 */
import { createServer, type Server } from "node:http";
import { createServer as createTcpServer, type AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { KubeObject } from "@setpoint/apimachinery";
import { isReady, missingForPods, TestCluster, until } from "../node/test-cluster.ts";
import { toolsImage as image } from "../node/tools-image.ts";

const reason = missingForPods();
if (reason !== "") process.stderr.write(`pod-network: skipped, ${reason}\n`);

const pod = (name: string, spec: string): string => `
apiVersion: v1
kind: Pod
metadata: {name: ${name}, labels: {app: ${name}}}
spec:
  terminationGracePeriodSeconds: 0
  containers: [{name: main, image: "${image}", ${spec}}]
`;
const server = (text: string): string =>
  `command: [sh, -c, "echo ${text} > /tmp/index.html; exec httpd -f -p 0.0.0.0:8080 -h /tmp"], readinessProbe: {tcpSocket: {port: 8080}, periodSeconds: 1}`;
const idle = `command: [sleep, "1000"]`;

const objects = [
  pod("attacker", idle),
  pod("victim", server("victim")),
  pod("friend", server("friend")),
  pod("admin", `${idle}, securityContext: {capabilities: {add: [NET_ADMIN, NET_RAW]}}`),
  "{apiVersion: v1, kind: Service, metadata: {name: victim}, spec: {selector: {app: victim}, ports: [{port: 80, targetPort: 8080}]}}",
  "{apiVersion: v1, kind: Service, metadata: {name: friend}, spec: {selector: {app: friend}, ports: [{port: 80, targetPort: 8080}]}}",
].join("\n---\n");

interface ServiceView extends KubeObject {
  readonly spec: { readonly clusterIP: string };
}

describe.skipIf(reason !== "")("a pod", () => {
  const parts = new AsyncDisposableStack();
  let cluster: TestCluster;
  let other: TestCluster;
  beforeAll(async () => {
    cluster = parts.use(await TestCluster.start(1));
    other = parts.use(await TestCluster.start(1));
    await cluster.apply(objects);
    await other.apply(pod("stranger", server("stranger")));
    for (const name of ["attacker", "victim", "friend", "admin"]) await cluster.pod(name, isReady);
    await other.pod("stranger", isReady);
  }, 120_000);
  afterAll(() => parts.disposeAsync());

  const sh = async (name: string, script: string): Promise<string> =>
    (await cluster.exec(name, ["sh", "-c", script])).stdout;
  /** The page that a server shows the pod; empty when there is none. */
  const page = (from: string, address: string): Promise<string> =>
    sh(from, `/bin/busybox timeout 3 wget -qO- http://${address}/`);
  const addressOf = async (name: string, at = cluster): Promise<string> =>
    (await at.pod(name, isReady)).status.podIP ?? "";
  const clusterIP = async (name: string): Promise<string> =>
    (await cluster.get<ServiceView>("Service", name))?.spec.clusterIP ?? "";

  test("reaches what it should: pods, Services, names and the API", async () => {
    expect(await page("attacker", `${await addressOf("victim")}:8080`)).toBe("victim\n");
    for (const name of ["victim", "victim.default.svc.cluster.local"])
      await until(name, 10, async () => ((await page("attacker", name)) === "victim\n" ? true : undefined));
    const { exitCode } = await cluster.exec("attacker", ["nc", "-w", "2", "kubernetes.default", "443"], "");
    expect(exitCode).toBe(0);
  });

  test("does not reach a service on the host's loopback network, at whatever address", async () => {
    const { port, hits } = await hostService();
    const { hostIP = "" } = (await cluster.pod("attacker", isReady)).status;
    for (const address of ["127.0.0.1", hostIP, "0.0.0.0", hostIP.replace(/^10/, "127"), "169.254.1.1"])
      expect(await page("attacker", `${address}:${port}`)).toBe("");
    expect(hits()).toBe(0);
  });

  test("makes no probe of its node reach a service of the host", async () => {
    const { port, hits } = await hostService();
    const probe = `${idle}, readinessProbe: {httpGet: {host: 127.0.0.1, port: ${port}}, periodSeconds: 1}`;
    await cluster.apply(pod("prober", probe));
    await cluster.pod("prober", ({ status }) => status.containerStatuses[0]?.state.running !== undefined);
    await until("the probe fails", 20, async () =>
      (await cluster.events("prober")).some((event) => event.startsWith("Unhealthy: Readiness probe failed"))
        ? true
        : undefined,
    );
    expect(hits()).toBe(0);
  });

  test("keeps no other pod from its network by endpoints or policies that are no rules", async () => {
    const slice = (name: string, port: number): string =>
      `{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: ${name}, labels: {kubernetes.io/service-name: odd}}, addressType: IPv4, endpoints: [{addresses: [10.64.0.2]}, {addresses: [10.064.0.9]}], ports: [{name: a, port: ${port}}]}`;
    const policy = (name: string, ingress: string): string =>
      `{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: ${name}}, spec: {podSelector: {matchLabels: {app: admin}}, ingress: [${ingress}]}}`;
    await cluster.apply("{apiVersion: v1, kind: Service, metadata: {name: odd}, spec: {ports: [{name: a, port: 80}]}}");
    // The server takes such endpoints, as upstream's, and refuses such policies.
    await cluster.apply([slice("too-large", 70_000), slice("negative", -5)].join("\n---\n"));
    for (const ingress of ["{ports: [{port: 80, endPort: 70}]}", "{from: [{ipBlock: {cidr: 010.0.0.9/08}}]}"])
      await expect(cluster.apply(policy("odd", ingress))).rejects.toThrow("is invalid");
    await cluster.apply(pod("late", idle));
    await cluster.pod("late", isReady, 30);
    await cluster.delete("Pod", "late");
  });

  test("does not become cluster DNS by a Service with its address", async () => {
    const resolvConf = await sh("attacker", "cat /etc/resolv.conf");
    const [, dns = ""] = /^nameserver (\S+)$/m.exec(resolvConf) ?? [];
    const service = `{apiVersion: v1, kind: Service, metadata: {name: dns}, spec: {clusterIP: ${dns}, selector: {app: friend}, ports: [{port: 80, targetPort: 8080}]}}`;
    await expect(cluster.apply(service)).rejects.toThrow(`failed to allocate IP ${dns}`);
    expect(await page("attacker", dns)).toBe("");
  });

  test("does not see the host's sockets", async () => {
    const name = `setpoint-attack-${process.pid}`;
    const abstract = createTcpServer();
    await new Promise<void>((resolve) => abstract.listen(`\0${name}`, resolve));
    onTestFinished(() => void abstract.close());
    const { port } = await hostService();
    expect(await sh("attacker", "cat /proc/net/unix")).not.toContain(name);
    expect(await sh("attacker", "cat /proc/net/tcp")).not.toContain(`:${port.toString(16).toUpperCase()} `);
  });

  test("does not reach the kubelet server of its node", async () => {
    const { hostIP = "" } = (await cluster.pod("attacker", isReady)).status;
    for (const address of [hostIP, hostIP.replace(/^10/, "127"), "127.0.0.1"]) {
      const { exitCode } = await cluster.exec("attacker", ["nc", "-w", "2", address, "10250"], "");
      expect(exitCode).not.toBe(0);
    }
  });

  test("does not pose as another pod, even with NET_ADMIN", async () => {
    const [victim, friend] = [await addressOf("victim"), await addressOf("friend")];
    expect(await page("admin", `${friend}:8080`)).toBe("friend\n");
    const pose = [
      `ip addr add ${victim}/32 dev eth0`,
      `ip route replace default via 169.254.1.1 dev eth0 src ${victim}`,
    ];
    await sh("admin", pose.map((command) => `/bin/busybox ${command}`).join("; "));
    expect(await page("admin", `${friend}:8080`)).toBe("");
    expect(await page("attacker", `${victim}:8080`)).toBe("victim\n");
  });

  test("does not reach the pods and Services of another cluster of the machine", async () => {
    const stranger = await addressOf("stranger", other);
    const own = await addressOf("victim");
    // Both may have the same address: then it is the own pod that answers.
    expect(await page("attacker", `${stranger}:8080`)).toBe(stranger === own ? "victim\n" : "");
    const answers = await Promise.all(
      [stranger, own].map((address) => page("attacker", `${address.replace(/^10/, "127")}:8080`)),
    );
    expect(answers.join("")).toBe("");
  });

  test("does not pass a NetworkPolicy, neither by address nor by Service", async () => {
    const [victim, friend] = [await addressOf("victim"), await addressOf("friend")];
    const services = [await clusterIP("victim"), await clusterIP("friend")];
    await cluster.apply(
      "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: closed}, spec: {podSelector: {matchLabels: {app: victim}}, ingress: [{from: [{podSelector: {matchLabels: {app: friend}}}]}]}}",
    );
    await until("the policy is enforced", 10, async () =>
      (await page("attacker", `${victim}:8080`)) === "" ? true : undefined,
    );
    expect(await page("attacker", services[0] ?? "")).toBe("");
    expect(await page("friend", `${victim}:8080`)).toBe("victim\n");
    expect(await page("friend", services[0] ?? "")).toBe("victim\n");
    expect(await page("attacker", `${friend}:8080`)).toBe("friend\n");
    await cluster.delete("NetworkPolicy", "closed");
    await until("the policy is gone", 10, async () =>
      (await page("attacker", services[0] ?? "")) === "victim\n" ? true : undefined,
    );
  });
});

/** A server of the host that counts who came. */
async function hostService(): Promise<{ readonly port: number; readonly hits: () => number }> {
  let count = 0;
  const service: Server = createServer((_, response) => {
    count++;
    response.end("host");
  });
  await new Promise<void>((resolve) => service.listen(0, "0.0.0.0", resolve));
  onTestFinished(() => void service.close());
  return { port: (service.address() as AddressInfo).port, hits: () => count };
}
