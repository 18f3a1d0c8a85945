/** A reflector of a scripted server, and all calls that its target gets. */
import type { KubeObject } from "@setpoint/apimachinery";
import { createClient, type Stored } from "@setpoint/client";
import type { Clock, Host } from "@setpoint/host";
import { simulatedHost } from "@setpoint/host/simulated";
import { Reflector, type ReflectorOptions } from "./reflector.ts";
import type { StagedObjects } from "./reflector-store.ts";
import { Box, scriptedServer, type Script } from "./scripted-server.fixture.ts";

const nameIn = (of: Uint8Array): string =>
  (JSON.parse(new TextDecoder().decode(of)) as Stored<KubeObject>).metadata.name;

export interface WorldOptions extends ReflectorOptions {
  readonly isRaw?: boolean;
  readonly kind?: typeof Box;
  readonly clock?: (inner: Clock) => Clock;
  readonly whenShown?: () => void;
}

/** `chance` is what randomness always says. Time begins at `startMs`, so that it is never 0. */
export const startMs = 700_000;

export function world(scripts: readonly Script[], options: WorldOptions = {}, chance = 0.5) {
  const { isRaw = false, kind = Box, clock: madeOf = (inner) => inner, whenShown, ...reflectorOptions } = options;
  const simulated = simulatedHost(1, startMs);
  const random = { ...simulated.random, next: () => chance, int: (below: number) => Math.floor(below * chance) };
  const host: Host = { ...simulated, random, clock: madeOf(simulated.clock) };
  const { transport, ...server } = scriptedServer(simulated.clock, scripts, isRaw);
  const told: string[] = [];
  const shown: Stored<KubeObject>[] = [];
  const say = (what: string, { metadata }: Stored<KubeObject>): void =>
    void told.push(`${what} ${metadata.name}@${metadata.resourceVersion}`);
  const stage = (): StagedObjects => {
    const names: string[] = [];
    return {
      add: (of) => void names.push(nameIn(of)),
      remove: (of) => void names.push(`-${nameIn(of)}`),
      commit: async () => void told.push(`commit ${names.join()}`),
      discard: () => void told.push(`discard ${names.join()}`),
    };
  };
  const reflector = new Reflector(createClient(transport, host), host, kind, reflectorOptions, {
    replace(objects) {
      shown.push(...objects);
      whenShown?.();
      told.push(`replace ${objects.map(({ metadata }) => metadata.name).join()}`);
    },
    set: (object) => say("set", object),
    remove: (object) => say("remove", object),
    progress: (revision) => void told.push(`progress ${revision}`),
    restored: () => void told.push("restored"),
    stage,
    setRaw: (of) => void told.push(`set ${nameIn(of)}`),
    removeRaw: (scan) => void told.push(`remove ${scan.key()}`),
  });
  const stopper = new AbortController();
  let listeners = 0;
  const { signal } = stopper;
  const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
  signal.addEventListener = (...of: Parameters<typeof add>) => (listeners++, add(...of));
  signal.removeEventListener = (...of: Parameters<typeof remove>) => (listeners--, remove(...of));
  let isOver = false;
  void reflector.run(signal).finally(() => (isOver = true));
  const { clock, lines, metrics } = simulated;
  return {
    ...server,
    ...{ clock, lines, metrics, reflector, shown, told },
    isOver: () => isOver,
    listeners: () => listeners,
    stop: () => stopper.abort(new Error("the test is over")),
  };
}
