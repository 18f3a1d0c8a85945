/**
 * The life of one pod on a simulated node: its containers' processes, and the status that the node reports.
 */
import type { Container, Pod } from "@setpoint/api";
import type { Host, Timer } from "@setpoint/host";
import type { Stored } from "@setpoint/client";
import type { ContainerFacts, PodFacts } from "./pod-status.ts";
import type { Launch, Program, ProgramModel, SimulatedVolume } from "./program-model.ts";

/** The time to pull an image that is there, and to start a process. */
const startMsMin = 50;
const startMsMax = 500;
/** The period of a readiness probe. */
const probeMsMax = 1_000;
/** The back-off before a container that ended by itself restarts, doubled up to the maximum. */
const restartMsFirst = 10_000;
const restartMsMax = 300_000;

/** What a pod needs of its node. */
export interface PodRunPorts {
  readonly host: Host;
  readonly podIp: string;
  modelOf(image: string): ProgramModel;
  /** Undefined while a claim is missing. */
  volumesOf(pod: Pod): ReadonlyMap<string, SimulatedVolume> | undefined;
  /** Call it after every change of the status. */
  changed(): void;
  /** All processes of a deleted pod have ended. */
  ended(): void;
}

interface ContainerRun {
  readonly spec: Container;
  image: string;
  program: Program | undefined;
  state: ContainerFacts["state"];
  isReady: boolean;
  restarts: number;
  probe: Timer | undefined;
  startedMs: number;
}

export class PodRun {
  pod: Stored<Pod>;
  readonly #ports: PodRunPorts;
  readonly #containers: readonly ContainerRun[];
  /** They run one after another before the containers start. */
  readonly #initContainers: readonly ContainerRun[];
  readonly #startedMs: number;
  /** They are mounted once, before the first container starts, and stay until the pod goes. */
  #volumes: ReadonlyMap<string, SimulatedVolume> | undefined;
  #isEnding = false;
  #isEnded = false;

  constructor(pod: Stored<Pod>, ports: PodRunPorts) {
    this.pod = pod;
    this.#ports = ports;
    this.#startedMs = ports.host.clock.now();
    this.#containers = (pod.spec?.containers ?? []).map(containerRun);
    this.#initContainers = (pod.spec?.initContainers ?? []).map(containerRun);
    this.#startNext();
  }

  /** The next init container, or all containers when none is left. */
  #startNext(): void {
    const next = this.#initContainers.find(({ state }) => state.kind !== "terminated");
    if (next !== undefined) return this.#startSoon(next);
    for (const container of this.#containers) this.#startSoon(container);
  }

  get #all(): readonly ContainerRun[] {
    return [...this.#initContainers, ...this.#containers];
  }

  get facts(): PodFacts {
    const { clock } = this.#ports.host;
    return {
      podIp: this.#ports.podIp,
      startedMs: this.#startedMs,
      nowMs: clock.now(),
      uid: this.pod.metadata.uid,
      restartPolicy: this.pod.spec?.restartPolicy ?? "Always",
      containers: this.#containers.map(factsOf),
      initContainers: this.#initContainers.map(factsOf),
    };
  }

  /** Follows the pod's spec: a changed image restarts its container, whatever the restart policy is. */
  update(pod: Stored<Pod>): void {
    this.pod = pod;
    if (pod.metadata.deletionTimestamp !== undefined) return this.#end(pod.metadata.deletionGracePeriodSeconds ?? 0);
    for (const spec of pod.spec?.containers ?? []) {
      const container = this.#containers.find((each) => each.spec.name === spec.name);
      if (container !== undefined && container.image !== spec.image) this.#replace(container, spec.image ?? "");
    }
  }

  /** As `kill -9` on every process. */
  kill(): void {
    for (const { program } of this.#all) program?.kill();
  }

  /** The pod object is gone: every process that still runs dies. */
  abandon(): void {
    this.#isEnding = true;
    this.#isEnded = true;
    this.kill();
  }

  #startSoon(container: ContainerRun): void {
    const { host } = this.#ports;
    host.clock.setTimer(() => this.#start(container), startMsMin + host.random.int(startMsMax - startMsMin));
  }

  #start(container: ContainerRun): void {
    if (this.#isEnding || container.program !== undefined) return;
    this.#volumes ??= this.#ports.volumesOf(this.pod);
    if (this.#volumes === undefined) return this.#startSoon(container);
    container.startedMs = this.#ports.host.clock.now();
    container.state = { kind: "running" };
    this.#ports.changed();
    const launch = this.#launch(container, this.#volumes);
    const program = this.#ports.modelOf(container.image).start(launch);
    // A program may have ended before `start` returned it.
    if (container.state.kind === "running") container.program = program;
  }

  #launch(container: ContainerRun, volumes: ReadonlyMap<string, SimulatedVolume>): Launch {
    const { host, podIp } = this.#ports;
    const { metadata, spec } = this.pod;
    const namespace = metadata.namespace ?? "";
    const environment = environmentOf(container.spec, this.pod, podIp);
    const mounts = (container.spec.volumeMounts ?? []).flatMap(({ name, mountPath }) => {
      const volume = volumes.get(name);
      return volume === undefined ? [] : [[mountPath, volume] as const];
    });
    let isOver = false;
    return {
      host,
      image: container.image,
      environment,
      namespace,
      podName: metadata.name,
      podIp,
      command: [...(container.spec.command ?? []), ...(container.spec.args ?? [])].map((text) =>
        filled(text, environment),
      ),
      hostNames:
        spec?.subdomain === undefined ? [] : [`${spec.hostname ?? metadata.name}.${spec.subdomain}.${namespace}.svc`],
      volumes: new Map(mounts),
      exited: (code, message) => {
        if (isOver) return;
        isOver = true;
        this.#exited(container, code, message);
      },
      ready: (isReady) => {
        if (!isOver) this.#probeSoon(container, isReady);
      },
    };
  }

  #probeSoon(container: ContainerRun, isReady: boolean): void {
    const { host } = this.#ports;
    container.probe?.cancel();
    container.probe = host.clock.setTimer(() => {
      container.isReady = isReady;
      this.#ports.changed();
    }, host.random.int(probeMsMax));
  }

  #exited(container: ContainerRun, code: number, message = ""): void {
    container.probe?.cancel();
    container.program = undefined;
    container.isReady = false;
    // A kubelet stops the old container and starts the new one in one pass, and reports no status between.
    if (!this.#isEnding && container.image !== this.#wantedImage(container)) {
      this.#ports.changed();
      return this.#restart(container, 0);
    }
    container.state = { kind: "terminated", code, message, finishedMs: this.#ports.host.clock.now() };
    if (this.#isEnding) return this.#endIfOver();
    this.#ports.changed();
    if (code === 0 && this.#initContainers.includes(container)) return this.#startNext();
    if (shouldRestart(this.pod, code))
      this.#restart(container, Math.min(restartMsFirst * 2 ** container.restarts, restartMsMax));
  }

  #wantedImage(container: ContainerRun): string {
    const { spec } = this.pod;
    const all = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
    return all.find((each) => each.name === container.spec.name)?.image ?? "";
  }

  #restart(container: ContainerRun, delayMs: number): void {
    this.#ports.host.clock.setTimer(() => {
      if (this.#isEnding) return;
      container.restarts++;
      container.image = this.#wantedImage(container);
      this.#startSoon(container);
    }, delayMs);
  }

  #replace(container: ContainerRun, image: string): void {
    const { program } = container;
    if (program !== undefined) return this.#stop(program, this.pod.spec?.terminationGracePeriodSeconds ?? 30);
    // It has no process now: the next start takes the new image.
    if (container.state.kind === "waiting") container.image = image;
    else this.#restart(container, 0);
  }

  #stop(program: Program, graceSeconds: number): void {
    program.terminate();
    this.#ports.host.clock.setTimer(() => program.kill(), graceSeconds * 1_000);
  }

  #end(graceSeconds: number): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    for (const { program } of this.#all) if (program !== undefined) this.#stop(program, graceSeconds);
    this.#endIfOver();
  }

  #endIfOver(): void {
    if (this.#isEnded || this.#all.some(({ program }) => program !== undefined)) return;
    this.#isEnded = true;
    this.#ports.ended();
  }
}

function containerRun(spec: Container): ContainerRun {
  return {
    spec,
    image: spec.image ?? "",
    program: undefined,
    state: { kind: "waiting" },
    isReady: false,
    restarts: 0,
    probe: undefined,
    startedMs: 0,
  };
}

function factsOf({ spec, image, state, isReady, restarts, startedMs }: ContainerRun): ContainerFacts {
  return { name: spec.name, image, state, isReady, restarts, startedMs };
}

function shouldRestart(pod: Pod, code: number): boolean {
  const policy = pod.spec?.restartPolicy ?? "Always";
  return policy === "Always" || (policy === "OnFailure" && code !== 0);
}

function environmentOf(container: Container, pod: Pod, podIp: string): Readonly<Record<string, string>> {
  const { metadata, spec } = pod;
  const fields: Readonly<Record<string, string | undefined>> = {
    "status.podIP": podIp,
    "metadata.name": metadata.name,
    "metadata.namespace": metadata.namespace,
    "metadata.uid": metadata.uid,
    "spec.nodeName": spec?.nodeName,
  };
  const environment: Record<string, string> = {};
  for (const { name, value, valueFrom } of container.env ?? []) {
    const text = value ?? fields[valueFrom?.fieldRef?.fieldPath ?? ""] ?? "";
    environment[name] = filled(text, environment);
  }
  return environment;
}

/** With `$(NAME)` filled in; most texts have none. */
function filled(text: string, environment: Readonly<Record<string, string>>): string {
  if (!text.includes("$(")) return text;
  return text.replaceAll(/\$\(([^)]+)\)/g, (whole, name: string) => environment[name] ?? whole);
}
