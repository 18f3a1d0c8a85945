/** A model of the server in the pods of KeyValueStores. */
import type {
  Launch,
  Program,
  ProgramModel,
  SimulatedSnapshot,
  SimulatedValues,
  SimulatedVolume,
} from "setpoint/testing";

interface Data {
  readonly version: string;
  readonly revision: number;
  readonly keys: Readonly<Record<string, string>>;
  /** Passwords by user; they are in backups like all data. */
  readonly users?: Readonly<Record<string, string>>;
}

const file = "keys";
const killedCode = 137;
const snapshotFolder = "/run/setpoint/snapshot";

/** Serves the keys of a volume, and turns snapshots into volumes. */
export class KeyValueModel implements ProgramModel, SimulatedValues {
  /** A bug of the engine: it acknowledges writes without storing them. */
  forgets = false;
  /** A bug of the engine: the server never gets ready. */
  startsNever = false;
  /** A bug of the engine: a restore gives an empty volume, and reports success. */
  restoresNothing = false;
  /** A bug of the engine: a server begins with no keys, whatever its volume has. */
  losesDataAtStart = false;
  /** Volumes of running servers, by the address of the pod and by its name. */
  readonly #serving = new Map<string, SimulatedVolume>();

  runs(image: string): boolean {
    return image.startsWith("key-value.invalid/server:");
  }

  start(launch: Launch): Program {
    return launch.command[1] === "restore" ? this.#restore(launch) : this.#serve(launch);
  }

  put(store: string, key: string, value: string): void {
    this.#put(this.#volume(`${store}-0`), key, value);
  }

  /** As a client does. */
  async write(source: unknown, key: string, value: string): Promise<void> {
    const volume = this.#volume(hostOf(source));
    if (!this.forgets) this.#put(volume, key, value);
  }

  async read(source: unknown, key: string): Promise<string | undefined> {
    return dataOf(this.#volume(hostOf(source))).keys[key];
  }

  #put(volume: SimulatedVolume, key: string, value: string): void {
    const { revision, keys, ...rest } = dataOf(volume);
    write(volume, { ...rest, revision: revision + 1, keys: { ...keys, [key]: value } });
  }

  users(store: string): Readonly<Record<string, string>> {
    return dataOf(this.#volume(`${store}-0`)).users ?? {};
  }

  setUser(store: string, user: string, password: string | undefined): void {
    const volume = this.#volume(`${store}-0`);
    const { [user]: _before, ...others } = this.users(store);
    const users = password === undefined ? others : { ...others, [user]: password };
    write(volume, { ...dataOf(volume), users });
  }

  keys(store: string): Readonly<Record<string, string>> {
    return dataOf(this.#volume(`${store}-0`)).keys;
  }

  /** As an agent gets it. */
  snapshot(source: unknown): SimulatedSnapshot {
    const data = dataOf(this.#volume(hostOf(source)));
    return { data: JSON.stringify(data), position: String(data.revision), engineVersion: data.version };
  }

  #volume(name: string): SimulatedVolume {
    const volume = this.#serving.get(name);
    if (volume === undefined) throw new Error(`no server answers at ${name}`);
    return volume;
  }

  #serve(launch: Launch): Program {
    const { podIp, podName, volumes } = launch;
    const [volume] = volumes.values();
    if (volume !== undefined) for (const name of [podIp, podName]) this.#serving.set(name, volume);
    if (this.losesDataAtStart) volume?.files.clear();
    launch.ready(!this.startsNever);
    let isOver = false;
    const end = (code: number): void => {
      if (isOver) return;
      isOver = true;
      for (const name of [podIp, podName]) if (this.#serving.get(name) === volume) this.#serving.delete(name);
      launch.exited(code);
    };
    return { terminate: () => end(0), kill: () => end(killedCode) };
  }

  #restore(launch: Launch): Program {
    const { volumes, command } = launch;
    const snapshot = volumes.get(snapshotFolder)?.files.get("snapshot");
    const claim = volumes.get(command[3] ?? "");
    if (typeof snapshot !== "string" || claim === undefined)
      launch.exited(1, "no snapshot, or no claim to write it to");
    else {
      if (!this.restoresNothing) claim.files.set(file, snapshot);
      launch.exited(0);
    }
    return { terminate: () => {}, kill: () => {} };
  }
}

/** The source of the engine. */
function hostOf(source: unknown): string {
  return new URL((source as { readonly url: string }).url).hostname;
}

function dataOf({ files }: SimulatedVolume): Data {
  const text = files.get(file);
  return typeof text === "string" ? (JSON.parse(text) as Data) : { version: "1.0.0", revision: 0, keys: {} };
}

function write({ files }: SimulatedVolume, data: Data): void {
  files.set(file, JSON.stringify(data));
}
