/** A pod that writes keys into simulated etcd, as an application does. Only tests import this. */
import { sleep } from "@setpoint/host";
import { Pod } from "setpoint/kinds";
import type { EtcdModel, Launch, Program, ProgramModel } from "setpoint/testing";

const image = "client.invalid/writer:1";
const retryMs = 1_000;

/** Keys with the values that the client writes; an empty value deletes its key. */
export function writingClient(name: string, cluster: string, keys: Readonly<Record<string, string>>): Pod {
  return Pod({
    name,
    spec: { restartPolicy: "Never", containers: [{ name: "writer", image, args: [cluster, JSON.stringify(keys)] }] },
  });
}

export class SimulatedClients implements ProgramModel {
  readonly #etcd: EtcdModel;

  constructor(etcd: EtcdModel) {
    this.#etcd = etcd;
  }

  runs(of: string): boolean {
    return of === image;
  }

  start(launch: Launch): Program {
    const [cluster = "", text = "{}"] = launch.command;
    const controller = new AbortController();
    // The parsing border: the text was made above.
    const keys = Object.entries(JSON.parse(text) as Readonly<Record<string, string>>);
    void this.#write(launch, cluster, keys, controller.signal).catch(() => {});
    const end = (code: number): void => {
      controller.abort();
      launch.exited(code);
    };
    return { terminate: () => end(0), kill: () => end(137) };
  }

  async #write(
    launch: Launch,
    cluster: string,
    keys: readonly (readonly [string, string])[],
    signal: AbortSignal,
  ): Promise<void> {
    for (const [key, value] of keys)
      for (let isWritten = false; !isWritten;) {
        isWritten = await this.#put(cluster, key, value === "" ? undefined : value);
        if (!isWritten) await sleep(launch.host.clock, retryMs, signal);
        signal.throwIfAborted();
      }
    launch.exited(0);
  }

  async #put(cluster: string, key: string, value: string | undefined): Promise<boolean> {
    const member = this.#etcd.members(cluster).find(({ isServing }) => isServing);
    if (member === undefined) return false;
    return this.#etcd.put(`http://${member.launch.podIp}:2379`, key, value).then(
      () => true,
      () => false,
    );
  }
}
