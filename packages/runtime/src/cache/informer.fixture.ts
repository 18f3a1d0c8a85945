/** An informer of a scripted server, and the events that its handlers get. */
import type { KubeObject } from "@setpoint/apimachinery";
import { createClient, type Stored } from "@setpoint/client";
import { simulatedHost } from "@setpoint/host/simulated";
import { Informer, type InformerOptions } from "./informer.ts";
import { Box, scriptedServer, type Script } from "./scripted-server.fixture.ts";

export interface StartOptions extends InformerOptions {
  /** Whether the server answers with bytes. */
  readonly isRaw?: boolean;
}

export function start(scripts: readonly Script[], { isRaw = false, ...options }: StartOptions = {}) {
  const host = simulatedHost(1);
  const { transport, requests, ways } = scriptedServer(host.clock, scripts, isRaw);
  const informer = new Informer(createClient(transport, host), host, Box, options);
  const log: string[] = [];
  const say = (what: string, { metadata }: Stored<KubeObject>): void =>
    void log.push(`${what} ${metadata.name}@${metadata.resourceVersion}`);
  informer.addHandler({
    onAdd: (each) => say("add", each),
    onUpdate: (old, each) => say(`${old.metadata.resourceVersion} to`, each),
    onDelete: (each) => say("delete", each),
  });
  const stopper = new AbortController();
  const running = informer.run(stopper.signal);
  const stop = async (): Promise<void> => {
    stopper.abort(new Error("the test is over"));
    await running;
  };
  return { host, informer, log, ways, requests, stop };
}

/** Of a server that answers with bytes. */
export function startRaw(scripts: readonly Script[], options: InformerOptions = {}) {
  return start(scripts, { ...options, isRaw: true });
}
