/** Three members of etcd without an operator: pods that their node restarts, for comparison. */
import { setTimeout as delay } from "node:timers/promises";
import { Pod, Service } from "setpoint/kinds";
import { isNotFound } from "@setpoint/apimachinery";
import type { Client, KindRef } from "@setpoint/client";
import { etcdClient } from "../../../examples/etcd/tour/etcd-client.ts";
import { memberProcess } from "../../../examples/etcd/tour/member-process.ts";

const name = "plain";
const namespace = "default";
const members = ["plain-0", "plain-1", "plain-2"] as const;
const image = "quay.io/coreos/etcd:v3.4.23";
const peerUrl = (member: string): string => `http://${member}.${name}.${namespace}.svc:2380`;

function memberPod(member: string): Pod {
  const options = {
    name: member,
    "data-dir": "/var/lib/etcd/data",
    "listen-peer-urls": "http://$(POD_IP):2380",
    "listen-client-urls": "http://$(POD_IP):2379",
    "initial-advertise-peer-urls": peerUrl(member),
    "advertise-client-urls": "http://$(POD_IP):2379",
    "initial-cluster": members.map((each) => `${each}=${peerUrl(each)}`).join(","),
  };
  return Pod({
    name: member,
    namespace,
    labels: { app: name },
    spec: {
      hostname: member,
      subdomain: name,
      volumes: [{ name: "data", emptyDir: {} }],
      containers: [
        {
          name: "etcd",
          image,
          command: ["etcd"],
          args: Object.entries(options).map(([option, value]) => `--${option}=${value}`),
          env: [{ name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } }],
          volumeMounts: [{ name: "data", mountPath: "/var/lib/etcd" }],
          readinessProbe: { httpGet: { path: "/health", port: 2379 }, periodSeconds: 1, failureThreshold: 3 },
        },
      ],
    },
  });
}

/** The host reaches pods and Services at mirrors of their addresses. */
const mirrored = (address: string | undefined): string => `http://${(address ?? "").replace(/^10\./, "127.")}:2379`;

export class PlainCluster {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  async create(): Promise<void> {
    const selector = { app: name };
    const peers = {
      clusterIP: "None",
      selector,
      publishNotReadyAddresses: true,
      ports: [{ name: "peer", port: 2380 }],
    };
    await this.#client.create(Service, Service({ name, namespace, spec: peers }));
    const clients = { selector, ports: [{ name: "client", port: 2379 }] };
    await this.#client.create(Service, Service({ name: `${name}-client`, namespace, spec: clients }));
    for (const member of members) await this.#client.create(Pod, memberPod(member));
  }

  async endpoint(): Promise<string> {
    return mirrored((await this.#client.get(Service, { name: `${name}-client`, namespace })).spec?.clusterIP);
  }

  /** The name of the leader when all three answer and are ready; undefined otherwise. */
  async wholeLeader(): Promise<string | undefined> {
    const pods = await Promise.all(members.map((member) => this.#client.get(Pod, { name: member, namespace })));
    const ready = pods.every(({ status }) =>
      status?.conditions?.some((each) => each.type === "Ready" && each.status === "True"),
    );
    if (!ready) return undefined;
    const statuses = await Promise.all(pods.map(({ status }) => this.#status(mirrored(status?.podIP))));
    const leader = statuses.findIndex((each) => each !== undefined && each.id === each.leader);
    return statuses.every((each) => each !== undefined) ? members[leader] : undefined;
  }

  kill(member: string): void {
    process.kill(memberProcess(member), "SIGKILL");
  }

  /** Resolves when pods and Services are gone. */
  async delete(): Promise<void> {
    const targets = [
      ...members.map((each) => [Pod, each] as const),
      [Service, name] as const,
      [Service, `${name}-client`] as const,
    ];
    for (const [kind, each] of targets) {
      while (await this.#isThere(kind, each)) {
        await this.#client.delete(kind, { name: each, namespace }).catch(ignoreMissing);
        await delay(200);
      }
    }
  }

  async #isThere(kind: KindRef, each: string): Promise<boolean> {
    return this.#client.get(kind, { name: each, namespace }).then(
      () => true,
      (error: unknown) => {
        ignoreMissing(error);
        return false;
      },
    );
  }

  async #status(endpoint: string): Promise<{ readonly id: string; readonly leader: string } | undefined> {
    const etcd = etcdClient(endpoint, 1_000);
    try {
      return await etcd.status();
    } catch {
      return undefined;
    } finally {
      etcd.close();
    }
  }
}

function ignoreMissing(error: unknown): void {
  if (!isNotFound(error)) throw error;
}
