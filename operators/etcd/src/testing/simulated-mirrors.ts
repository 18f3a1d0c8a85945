/** Pods of mirrors in simulated worlds: the real program and models of etcd. Only tests import this. */
import { silentLogger } from "@setpoint/host";
import { Pod, Secret } from "setpoint/kinds";
import {
  type EtcdModel,
  type Launch,
  type Program,
  type ProgramModel,
  simulatedOperatorImage,
  type WorldView,
} from "setpoint/testing";
import type { EtcdLogin } from "../gateway/etcd-gateway.ts";
import { bytesOf } from "../mirror/key-range.ts";
import { runMirrorLoop } from "../mirror/mirror-loop.ts";
import { mirrorRequest, mirrorRequestVariable } from "../mirror/mirror-request.ts";
import { rootSecretName } from "../resources/root-login.ts";
import { SimulatedMirrorEnd } from "./simulated-mirror-end.ts";

const killedCode = 137;

export class SimulatedMirrors implements ProgramModel {
  /** Pods that ran beside an earlier one of the same mirror. */
  readonly overlaps: string[] = [];
  readonly #etcd: EtcdModel;
  /** The newest pod by the key of its record. */
  readonly #running = new Map<string, string>();
  /** The password of root, by pod and Secret. */
  readonly #mounted = new Map<string, string>();
  #view: WorldView | undefined;

  constructor(etcd: EtcdModel) {
    this.#etcd = etcd;
  }

  /** The world whose Secrets the pods mount. */
  mountsFrom(view: WorldView): void {
    this.#view = view;
  }

  runs(image: string): boolean {
    return image === simulatedOperatorImage;
  }

  start(launch: Launch): Program {
    const request = mirrorRequest.parse(JSON.parse(launch.environment[mirrorRequestVariable] ?? "null"));
    const { source, destination, prefix, destinationPrefix, recordKey, replacesKeys } = request;
    const controller = new AbortController();
    this.#begin(recordKey, launch.podName);
    const loop = runMirrorLoop({
      connect: (signal) => ({
        source: this.#end(launch, "Source", source, signal),
        destination: this.#end(launch, "Destination", destination, signal),
      }),
      mapping: { source: bytesOf(prefix), destination: bytesOf(destinationPrefix) },
      ...{ recordKey, replacesKeys, clock: launch.host.clock, log: silentLogger, conceal: String },
      signal: controller.signal,
    });
    const exit = (code: number): void => {
      controller.abort();
      if (this.#running.get(recordKey) === launch.podName) this.#running.delete(recordKey);
      launch.exited(code);
    };
    launch.ready(true);
    return {
      terminate() {
        controller.abort();
        void loop.then(() => exit(0));
      },
      kill: () => exit(killedCode),
    };
  }

  #begin(recordKey: string, podName: string): void {
    const other = this.#running.get(recordKey);
    if (other !== undefined && other !== podName) this.overlaps.push(`pod ${podName} started while ${other} ran`);
    this.#running.set(recordKey, podName);
  }

  #end(
    { podName, namespace: podNamespace, host }: Launch,
    side: "Source" | "Destination",
    [url = ""]: readonly string[],
    signal: AbortSignal,
  ): SimulatedMirrorEnd {
    const [, cluster = ""] = /^https?:\/\/(.+)-client\./.exec(url) ?? [];
    const pod = { name: podName, namespace: podNamespace };
    const login = (): EtcdLogin | undefined => this.#mountedLogin(pod, rootSecretName(cluster));
    return new SimulatedMirrorEnd({ side, etcd: this.#etcd, cluster, clock: host.clock, signal, login });
  }

  /** A mounted Secret that is deleted stays in its pod. */
  #mountedLogin(pod: { readonly name: string; readonly namespace: string }, secret: string): EtcdLogin | undefined {
    const volumes = JSON.stringify(this.#view?.get(Pod, pod)?.spec?.volumes ?? []);
    if (!volumes.includes(`"${secret}"`)) return undefined;
    const { password } = this.#view?.get(Secret, { name: secret, namespace: pod.namespace })?.data ?? {};
    const key = `${pod.name}/${secret}`;
    if (password !== undefined) this.#mounted.set(key, Buffer.from(password, "base64").toString());
    const kept = this.#mounted.get(key);
    return kept === undefined ? undefined : { name: "root", password: kept };
  }
}
