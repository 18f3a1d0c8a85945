import type { Transport } from "@setpoint/apimachinery";
import { isConflict, isNotFound } from "@setpoint/apimachinery";
import type { Host } from "@setpoint/host";
import { createClusterApi } from "../cluster/cluster-api.ts";
import { createEventRecorder } from "../cluster/event-recorder.ts";
import { podKind } from "../cluster/kinds.ts";
import { NodeRegistration } from "../cluster/node-registration.ts";
import { ObjectMirror } from "../cluster/object-mirror.ts";
import type { Pod } from "../pod/pod.ts";
import { podIdentity } from "../pod/pod.ts";
import type { SimulatedBehaviours } from "./behaviours.ts";
import { bindClaims } from "./bind-claims.ts";
import { SimulatedPod } from "./simulated-pod.ts";

export interface SimulatedNodeOptions {
  readonly transport: Transport;
  readonly host: Host;
  readonly behaviours: SimulatedBehaviours;
  /** Default `node-0`. */
  readonly name?: string;
  /** The first three numbers of pod addresses; default `10.244.0`. Give each node its own. */
  readonly podNetwork?: string;
}

export interface SimulatedNode extends AsyncDisposable {
  readonly name: string;
  /** SIGKILLs the main process of a pod's container (the first one by default); false when it does not run. */
  kill(pod: { readonly namespace: string; readonly name: string; readonly container?: string }): boolean;
}

/** A node of the simulated world: the same status machine as the real one, over models instead of processes. */
export async function simulatedNode(options: SimulatedNodeOptions): Promise<SimulatedNode> {
  const { host, name = "node-0", podNetwork = "10.244.0" } = options;
  const { clock, log } = host;
  const api = createClusterApi(options.transport);
  const events = createEventRecorder(host, api, "kubelet", name);
  const pods = new Map<string, SimulatedPod>();
  let lastAddress = 1;
  const registration = new NodeRegistration({ api, clock, log, facts: simulatedFacts(name) });
  await registration.register();
  const start = (pod: Pod): SimulatedPod =>
    new SimulatedPod(pod, {
      host,
      behaviours: options.behaviours,
      podIP: pod.status?.podIP ?? `${podNetwork}.${++lastAddress}`,
      hostIP: "192.0.2.1",
      prepare: (it) => bindClaims(api, it, name),
      event: (...event) => events.record(...event),
      async writeStatus(it, status) {
        await api
          .patch(
            podKind,
            keyOf(it),
            {
              metadata: { uid: it.metadata.uid },
              status,
            },
            "status",
          )
          .catch(ignoreGone);
      },
      async remove(it) {
        await api
          .delete(podKind, keyOf(it), {
            uid: podIdentity(it).uid,
            gracePeriodSeconds: 0,
          })
          .catch(ignoreGone);
      },
    });
  const mirror = new ObjectMirror<Pod>({
    api,
    clock,
    log,
    kind: podKind,
    selector: { fieldSelector: `spec.nodeName=${name}` },
    onChange(pod, before) {
      const uidBefore = before?.metadata.uid ?? "";
      if (before !== undefined && uidBefore !== pod?.metadata.uid) {
        pods.get(uidBefore)?.destroy();
        pods.delete(uidBefore);
      }
      if (pod === undefined) return;
      const { uid } = podIdentity(pod);
      const known = pods.get(uid);
      if (known === undefined) pods.set(uid, start(pod));
      else known.update(pod);
    },
  });
  await mirror.synced;
  return {
    name,
    kill({ namespace, name: podName, container }) {
      const found = [...pods.values()].find(
        ({ pod }) => pod.metadata.namespace === namespace && pod.metadata.name === podName,
      );
      return found?.kill(container) ?? false;
    },
    async [Symbol.asyncDispose]() {
      await mirror[Symbol.asyncDispose]();
      for (const pod of pods.values()) pod.destroy();
      await registration[Symbol.asyncDispose]();
    },
  };
}

function keyOf(pod: Pod): { readonly namespace: string; readonly name: string } {
  const { namespace, name } = podIdentity(pod);
  return { namespace, name };
}

function ignoreGone(error: unknown): void {
  if (!isNotFound(error) && !isConflict(error)) throw error;
}

function simulatedFacts(name: string): ConstructorParameters<typeof NodeRegistration>[0]["facts"] {
  return {
    name,
    address: "192.0.2.1",
    kubeletPort: 10250,
    podCidr: "10.244.0.0/24",
    cpus: 64,
    memoryBytes: 2 ** 38,
    diskBytes: 2 ** 40,
    architecture: "amd64",
    kernelVersion: "simulated",
    osImage: "simulated",
    machineId: name,
    bootId: name,
    runtimeVersion: "simulated://1",
    kubeletVersion: "v1.36.0",
  };
}
