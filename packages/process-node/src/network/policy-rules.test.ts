import type { NetworkPolicy } from "@setpoint/api";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { apiAddress, missing, NetworkWorld, type TestPod } from "./namespace.fixture.ts";
import { policyRules } from "./policy-rules.ts";
import type { PodAddress } from "./policy-table.ts";

const places = { apiAddress, nodeAddress: "10.64.0.1" };

const namespaces = [
  { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop", labels: { team: "a" } } },
  { apiVersion: "v1", kind: "Namespace", metadata: { name: "other", labels: { team: "b" } } },
];

const policy = (spec: NetworkPolicy["spec"], namespace = "shop"): NetworkPolicy => ({
  apiVersion: "networking.k8s.io/v1",
  kind: "NetworkPolicy",
  metadata: { name: "p", namespace },
  spec,
});
const web = { matchLabels: { app: "web" } };
const client = { matchLabels: { app: "client" } };
/** web: shop, listens on 8080 (named http), 9000 and 9005; client: shop; stranger: namespace other. */
const everyPath = ["client>web:8080", "client>web:9000", "client>web:9005", "stranger>web:8080", "web>client:8080"];

const table: readonly {
  readonly says: string;
  readonly policies: readonly NetworkPolicy[];
  readonly allowed: readonly string[];
}[] = [
  { says: "no policy allows everything", policies: [], allowed: everyPath },
  {
    says: "an empty policy denies all ingress of the pods it selects, and no egress",
    policies: [policy({ podSelector: web })],
    allowed: ["web>client:8080"],
  },
  {
    says: "a policy of another namespace selects nobody here",
    policies: [policy({ podSelector: {} }, "other")],
    allowed: everyPath,
  },
  {
    says: "policyTypes Egress denies egress alone",
    policies: [policy({ podSelector: web, policyTypes: ["Egress"] })],
    allowed: everyPath.filter((path) => !path.startsWith("web>")),
  },
  {
    says: "podSelector allows pods of the policy's own namespace",
    policies: [policy({ podSelector: web, ingress: [{ from: [{ podSelector: {} }] }] })],
    allowed: everyPath.filter((path) => !path.startsWith("stranger>")),
  },
  {
    says: "namespaceSelector allows pods of the namespaces with these labels",
    policies: [
      policy({ podSelector: web, ingress: [{ from: [{ namespaceSelector: { matchLabels: { team: "b" } } }] }] }),
    ],
    allowed: ["stranger>web:8080", "web>client:8080"],
  },
  {
    says: "both selectors in one peer must match",
    policies: [
      policy({
        podSelector: web,
        ingress: [{ from: [{ namespaceSelector: { matchLabels: { team: "b" } }, podSelector: client }] }],
      }),
    ],
    allowed: ["web>client:8080"],
  },
  {
    says: "a port by number, a range and a name",
    policies: [
      policy({
        podSelector: web,
        ingress: [
          { ports: [{ port: "http" }] },
          { from: [{ podSelector: client }], ports: [{ port: 9000, endPort: 9004 }] },
        ],
      }),
    ],
    allowed: ["client>web:8080", "client>web:9000", "stranger>web:8080", "web>client:8080"],
  },
  {
    says: "a port of another protocol allows nothing of TCP",
    policies: [policy({ podSelector: web, ingress: [{ ports: [{ port: 8080, protocol: "UDP" }] }] })],
    allowed: ["web>client:8080"],
  },
  {
    says: "ipBlock allows a range without its exceptions",
    policies: [
      policy({
        podSelector: web,
        ingress: [{ from: [{ ipBlock: { cidr: "0.0.0.0/0", except: ["10.64.0.3/32", "10.64.0.2/31"] } }] }],
      }),
    ],
    allowed: ["stranger>web:8080", "web>client:8080"],
  },
  {
    says: "policies add up",
    policies: [
      policy({ podSelector: {} }),
      policy({ podSelector: web, ingress: [{ from: [{ podSelector: client }], ports: [{ port: 9005 }] }] }),
    ],
    allowed: ["client>web:9005"],
  },
  {
    says: "egress needs the consent of both sides, and a named port is the destination's",
    policies: [
      policy({
        podSelector: client,
        policyTypes: ["Egress"],
        egress: [{ to: [{ podSelector: web }], ports: [{ port: "http" }] }],
      }),
      policy({ podSelector: client, policyTypes: ["Ingress"] }),
    ],
    allowed: ["client>web:8080", "stranger>web:8080"],
  },
];

describe.skipIf(missing !== "")(`NetworkPolicies between real pods${missing}`, () => {
  let world: NetworkWorld;
  const pods = new Map<string, TestPod>();
  let addresses: PodAddress[];
  const pod = (name: string): TestPod => {
    const found = pods.get(name);
    if (found === undefined) throw new Error(`no pod ${name}`);
    return found;
  };
  beforeAll(async () => {
    world = await NetworkWorld.start();
    for (const name of ["web", "client", "stranger"]) pods.set(name, await world.pod(name));
    for (const port of [8080, 9000, 9005]) await pod("web").serve(port, "web");
    await pod("client").serve(8080, "client");
    addresses = [...pods].map(([name, { address }]) => ({
      address,
      namespace: name === "stranger" ? "other" : "shop",
      labels: { app: name },
      ports: new Map(name === "web" ? [["TCP/http", 8080]] : []),
    }));
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const enforce = async (policies: readonly NetworkPolicy[]): Promise<void> => {
    world.rules = policyRules({ policies, namespaces, pods: addresses }, addresses, places);
    await world.update();
  };
  const passes = async (path: string): Promise<boolean> => {
    const [from = "", to = "", port = ""] = path.split(/[>:]/);
    const answer = await pod(from).ask(pod(to).address, Number(port));
    expect(answer === "ECONNREFUSED" || answer.startsWith(to), answer).toBe(true);
    return answer.startsWith(to);
  };

  test.each(table)("$says", async ({ policies, allowed }) => {
    await enforce(policies);
    const passing = [];
    for (const path of everyPath) if (await passes(path)) passing.push(path);
    expect(passing).toEqual(everyPath.filter((path) => allowed.includes(path)));
  });

  test("a pod reaches itself, and the agent reaches it, whatever policies say", async () => {
    await enforce([policy({ podSelector: {}, policyTypes: ["Ingress", "Egress"] })]);
    expect(await pod("web").ask(pod("web").address, 8080)).toContain("web");
    (await world.network.connect(pod("web").address, 8080)).destroy();
  });

  test("the API server is a destination like others for egress", async () => {
    const api = await world.cluster.sockets.listen(apiAddress, 443);
    api.on("connection", (socket) => socket.end("api"));
    await enforce([]);
    expect(await pod("client").ask(apiAddress, 443)).toBe("api");
    await enforce([policy({ podSelector: {}, policyTypes: ["Egress"] })]);
    expect(await pod("client").ask(apiAddress, 443)).toBe("ECONNREFUSED");
    const toApi = [{ to: [{ ipBlock: { cidr: `${apiAddress}/32` } }], ports: [{ port: 443 }] }];
    await enforce([policy({ podSelector: {}, policyTypes: ["Egress"], egress: toApi })]);
    expect(await pod("client").ask(apiAddress, 443)).toBe("api");
    api.close();
  });
});

test("what is no address or port of a policy becomes no rule", () => {
  const own = [{ address: "10.64.0.2", namespace: "shop", labels: {}, ports: new Map() }];
  const evil = "0.0.0.0/0 accept\n";
  const ingress = [
    { from: [{ ipBlock: { cidr: evil, except: [evil] } }], ports: [{ port: 70_000, protocol: evil as "TCP" }] },
  ];
  const rules = policyRules({ policies: [policy({ podSelector: {}, ingress })], namespaces, pods: own }, own, places);
  expect(rules).not.toContain("0.0.0.0");
  expect(rules).not.toContain("70000");
});

test("a range that ends before it begins, or a number with a zero in front, becomes no rule", () => {
  const own = [{ address: "10.64.0.2", namespace: "shop", labels: {}, ports: new Map() }];
  const ingress = [
    { ports: [{ port: 80, endPort: 70 }] },
    { from: [{ ipBlock: { cidr: "010.0.0.09/8" } }, { ipBlock: { cidr: "10.0.0.0/08" } }] },
  ];
  const sources = { policies: [policy({ podSelector: {}, ingress })], namespaces, pods: own };
  expect(policyRules(sources, own, places)).not.toMatch(/80-70|010\.0|\/08/);
});
