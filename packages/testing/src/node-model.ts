/** The model of nodes: it runs their pods, with models of programs instead of processes. */
import { Node, PersistentVolumeClaim, Pod, type PodStatus } from "@setpoint/api";
import { deepEqual, isNotFound, type NamespacedName } from "@setpoint/apimachinery";
import type { Client, Stored } from "@setpoint/client";
import type { Host } from "@setpoint/host";
import type { InformerFactory } from "@setpoint/runtime";
import { NodeHeartbeat } from "./node-heartbeat.ts";
import { NodeOutage, type OutageKind } from "./node-outage.ts";
import { PodRun } from "./pod-run.ts";
import { podStatus } from "./pod-status.ts";
import { idleProgram, type ProgramModel, type SimulatedVolume } from "./program-model.ts";

export interface NodeModelOptions {
  readonly client: Client;
  readonly host: Host;
  readonly names: readonly string[];
  readonly models: readonly ProgramModel[];
  /** Whether the nodes renew Leases, and what follows from an outage is left to the controllers. */
  readonly heartbeats: boolean;
}

/** What is done when a node recovers. */
interface Outage {
  end(): Promise<void>;
}

/** The delay before a failed request is retried. */
const retryMs = 1_000;

interface Running {
  readonly run: PodRun;
  /** The write in flight; writes follow one another, so that the last status is the newest. */
  writing: Promise<void>;
  /** The status that the node reported last, and what the server stored of it. */
  told?: { readonly status: PodStatus; readonly kept: PodStatus | undefined };
}

export class NodeModel {
  readonly #options: NodeModelOptions;
  #informers: InformerFactory | undefined;
  readonly #running = new Map<string, Running>();
  /** By the UID of the pod (emptyDir) or of the claim. */
  readonly #volumes = new Map<string, SimulatedVolume>();
  readonly #outages = new Map<string, Outage>();
  readonly #heartbeats = new Map<string, NodeHeartbeat>();
  #addresses = 0;

  constructor(options: NodeModelOptions) {
    this.#options = options;
  }

  /** Resolves when the pods of the nodes, which are registered already, are watched. */
  async start(informers: InformerFactory): Promise<void> {
    this.#informers = informers;
    const pods = informers.informer(Pod);
    pods.addHandler({
      onAdd: (pod) => this.#seen(pod as Stored<Pod>),
      onUpdate: (_old, pod) => this.#seen(pod as Stored<Pod>),
      onDelete: (pod) => this.#gone(pod as Stored<Pod>),
    });
    const claims = informers.informer(PersistentVolumeClaim);
    claims.addHandler({ onDelete: (claim) => this.#wipe(claim.metadata.uid) });
    const nodes = this.#options.heartbeats ? [informers.informer(Node)] : [];
    informers.start();
    await Promise.all([pods.synced, claims.synced, ...nodes.map(({ synced }) => synced)]);
    if (this.#options.heartbeats) await Promise.all(this.#options.names.map((name) => this.#heartbeat(name).start()));
  }

  #heartbeat(node: string): NodeHeartbeat {
    const { client, host } = this.#options;
    // The store of the informer of nodes holds nodes.
    const seen = (): Stored<Node> | undefined =>
      this.#informers?.informer(Node).store.get(node) as Stored<Node> | undefined;
    const returned = (): void => this.#reportAll(node);
    const known = this.#heartbeats.get(node) ?? new NodeHeartbeat({ client, clock: host.clock, node, seen, returned });
    this.#heartbeats.set(node, known);
    return known;
  }

  #outage(node: string, kind: OutageKind): Outage {
    const { client, host, heartbeats } = this.#options;
    if (!heartbeats) return new NodeOutage(kind, { client, clock: host.clock, node, pods: () => this.#podsOf(node) });
    const heartbeat = this.#heartbeat(node);
    heartbeat.stop();
    return { end: () => heartbeat.start() };
  }

  /** As `kill -9` on the processes of a pod; throws when it does not run. */
  kill(pod: NamespacedName): void {
    const found = this.#find(pod);
    if (found === undefined) throw new Error(`Cannot kill pod "${pod.name}": it does not run on any node`);
    found.run.kill();
  }

  runs(pod: NamespacedName): boolean {
    return this.#find(pod) !== undefined;
  }

  #find({ namespace, name }: NamespacedName): Running | undefined {
    return [...this.#running.values()].find(
      ({ run }) => run.pod.metadata.name === name && run.pod.metadata.namespace === namespace,
    );
  }

  /** As `kill -9` on every process at one moment. */
  killAll(): void {
    for (const { run } of this.#running.values()) run.kill();
  }

  /**
   * `off`: as a power cut of one node. `isolated`: its processes continue, but no other machine reaches them.
   */
  failNode(name: string, kind: OutageKind): void {
    if (!this.#options.names.includes(name))
      throw new Error(`Cannot fail node "${name}": the nodes are ${this.#options.names.join(", ")}`);
    if (this.#outages.has(name)) throw new Error(`Cannot fail node "${name}": it has failed already`);
    this.#outages.set(name, this.#outage(name, kind));
    if (kind === "isolated") return;
    for (const [uid, { run }] of this.#running) {
      if (run.pod.spec?.nodeName !== name) continue;
      // Forgotten first, so that the exits of its processes are not reported.
      this.#running.delete(uid);
      run.abandon();
    }
  }

  /** The node recovers: pods that were deleted meanwhile end, the others continue or restart. */
  async recoverNode(name: string): Promise<void> {
    const outage = this.#outages.get(name);
    if (outage === undefined) throw new Error(`Cannot recover node "${name}": it has not failed`);
    this.#outages.delete(name);
    await outage.end();
    const present = this.#podsOf(name);
    const uids = new Set(present.map(({ metadata }) => metadata.uid));
    for (const { run } of this.#running.values())
      if (run.pod.spec?.nodeName === name && !uids.has(run.pod.metadata.uid)) this.#gone(run.pod);
    for (const pod of present) {
      this.#seen(pod);
      this.#report(pod.metadata.uid);
    }
  }

  /** The pods that are bound to the node. */
  podNames(node: string): readonly string[] {
    return this.#podsOf(node).map(({ metadata }) => metadata.name);
  }

  /** The data of a claim's volume is lost, and the processes that use it die. */
  loseVolume(claimUid: string): void {
    const volume = this.#volumes.get(claimUid);
    this.#wipe(claimUid);
    for (const { run } of this.#running.values())
      if (volume !== undefined && run.pod.spec?.volumes?.some((each) => this.#isOn(run.pod, each, claimUid)))
        run.kill();
  }

  #wipe(volumeId: string): void {
    this.#volumes.get(volumeId)?.files.clear();
    this.#volumes.delete(volumeId);
  }

  #isOn(pod: Pod, volume: NonNullable<NonNullable<Pod["spec"]>["volumes"]>[number], claimUid: string): boolean {
    const { persistentVolumeClaim } = volume;
    return persistentVolumeClaim !== undefined && this.#claim(pod, persistentVolumeClaim.claimName) === claimUid;
  }

  #podsOf(node: string): readonly Stored<Pod>[] {
    // The store of the informer of pods holds pods.
    const pods = (this.#informers?.informer(Pod).store.values() ?? []) as Iterable<Stored<Pod>>;
    return [...pods].filter(({ spec }) => spec?.nodeName === node);
  }

  #seen(pod: Stored<Pod>): void {
    const { uid, deletionTimestamp } = pod.metadata;
    const node = pod.spec?.nodeName ?? "";
    if (!this.#options.names.includes(node) || this.#outages.has(node)) return;
    const running = this.#running.get(uid);
    if (running !== undefined) return this.#updated(running, pod);
    if (deletionTimestamp !== undefined) return void this.#finalize(pod);
    if (pod.status?.phase === "Failed" || pod.status?.phase === "Succeeded") return;
    this.#running.set(uid, { run: this.#createRun(pod), writing: Promise.resolve() });
  }

  #createRun(pod: Stored<Pod>): PodRun {
    const { uid } = pod.metadata;
    const { host, models } = this.#options;
    const address = ++this.#addresses;
    return new PodRun(pod, {
      host,
      podIp: `10.244.${address >> 8}.${address & 0xff}`,
      modelOf: (image) => models.find((model) => model.runs(image)) ?? idleProgram,
      volumesOf: (each) => this.#volumesOf(each),
      changed: () => this.#report(uid),
      ended: () => this.#ended(uid),
    });
  }

  #gone(pod: Stored<Pod>): void {
    const { uid } = pod.metadata;
    // An isolated node keeps a pod running whose object is gone.
    if (this.#outages.has(pod.spec?.nodeName ?? "")) return;
    this.#running.get(uid)?.run.abandon();
    this.#running.delete(uid);
    for (const id of this.#volumes.keys()) if (id.startsWith(`${uid}/`)) this.#wipe(id);
  }

  #volumesOf(pod: Pod): ReadonlyMap<string, SimulatedVolume> | undefined {
    const volumes = new Map<string, SimulatedVolume>();
    for (const { name, persistentVolumeClaim } of pod.spec?.volumes ?? []) {
      const id =
        persistentVolumeClaim === undefined
          ? `${pod.metadata.uid}/${name}`
          : this.#claim(pod, persistentVolumeClaim.claimName);
      if (id === undefined) return undefined;
      const volume = this.#volumes.get(id) ?? { id, files: new Map() };
      this.#volumes.set(id, volume);
      volumes.set(name, volume);
    }
    return volumes;
  }

  /** The UID of an existing claim; binds it when it is not bound yet. */
  #claim(pod: Pod, name: string): string | undefined {
    const { namespace = "" } = pod.metadata;
    const claim = this.#informers?.informer(PersistentVolumeClaim).store.get(`${namespace}/${name}`) as
      | Stored<PersistentVolumeClaim>
      | undefined;
    // No node mounts a claim that is being deleted.
    if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) return undefined;
    // Without a class it waits for a volume that a person makes, and here nobody does.
    if (claim.spec?.storageClassName === "") return undefined;
    if (claim.status?.phase !== "Bound")
      void this.#try(() =>
        this.#options.client.patch(
          PersistentVolumeClaim,
          { name, namespace },
          { status: { phase: "Bound" } },
          { subresource: "status" },
        ),
      );
    return claim.metadata.uid;
  }

  #updated({ run, told }: Running, pod: Stored<Pod>): void {
    run.update(pod);
    // A controller that takes the node for lost a moment too long is corrected, as by a kubelet.
    const isOverwritten = told !== undefined && readyOf(pod.status) !== readyOf(told.kept);
    if (isOverwritten && this.#options.heartbeats) this.#report(pod.metadata.uid);
  }

  #reportAll(node: string): void {
    for (const { metadata } of this.#podsOf(node)) this.#report(metadata.uid);
  }

  #report(uid: string): void {
    const running = this.#running.get(uid);
    if (running === undefined || this.#outages.has(running.run.pod.spec?.nodeName ?? "")) return;
    running.writing = running.writing.then(() => this.#try(() => this.#write(running)));
  }

  /**
   * The status is computed when it is written, so that it is current. Like a kubelet, a node does not repeat
   * the status that it reported last, while the server still shows it.
   */
  async #write(running: Running): Promise<void> {
    const { pod, facts } = running.run;
    const { name, namespace = "", uid } = pod.metadata;
    const status = podStatus(facts, pod.status);
    if (deepEqual(status, running.told?.status) && deepEqual(pod.status, running.told?.kept)) return;
    const change = { metadata: { uid }, status };
    const written = await this.#options.client.patch(Pod, { name, namespace }, change, { subresource: "status" });
    running.told = { status, kept: written.status };
  }

  #ended(uid: string): void {
    const running = this.#running.get(uid);
    if (running === undefined) return;
    this.#report(uid);
    running.writing = running.writing.then(() => this.#finalize(running.run.pod));
  }

  async #finalize(pod: Stored<Pod>): Promise<void> {
    const { name, namespace = "", uid } = pod.metadata;
    await this.#try(() =>
      this.#options.client.delete(Pod, { name, namespace }, { gracePeriodSeconds: 0, preconditions: { uid } }),
    );
  }

  /** Retries until it is done or no longer needed. */
  async #try(send: () => Promise<unknown>): Promise<void> {
    for (;;) {
      try {
        return void (await send());
      } catch (error) {
        if (isNotFound(error) || isStranger(error)) return;
        const { clock } = this.#options.host;
        await new Promise<void>((resolve) => void clock.setTimer(resolve, retryMs));
      }
    }
  }
}

function readyOf(status: PodStatus | undefined): string | undefined {
  return status?.conditions?.find(({ type }) => type === "Ready")?.status;
}

/** Another object of that name, with another UID, came meanwhile. */
function isStranger(error: unknown): boolean {
  return error instanceof Error && /uid/i.test(error.message);
}
