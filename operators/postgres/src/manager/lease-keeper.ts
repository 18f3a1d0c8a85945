/** Asks the peers for the primary's lease, again and again while this instance is the primary. */
import { exchangeJson } from "../instance/json-exchange.ts";
import { leasePath } from "../instance/manager-paths.ts";
import type { DesiredInstance, LeaseAnswer, Peer } from "../instance/instance-protocol.ts";
import { managerPort } from "../kind/names.ts";
import { keyMaterial } from "./certificate-files.ts";
import type { InstanceManager } from "./instance-manager.ts";
import type { ManagerClock } from "./manager-clock.ts";

/** Three tries in one lease. */
const askEveryMs = 1_000;
const answerMsMax = 900;

export interface LeaseKeeperOptions {
  readonly manager: InstanceManager;
  readonly clock: ManagerClock;
}

export async function keepLease(options: LeaseKeeperOptions, signal: AbortSignal): Promise<void> {
  const { manager, clock } = options;
  while (!signal.aborted) {
    const { desired } = manager;
    if (desired?.primary === manager.name) await askPeers(desired, options, signal);
    await clock.sleep(askEveryMs, signal);
  }
}

/** A peer that gives no answer grants nothing. */
async function askPeers(
  { term, peers }: DesiredInstance,
  { manager, clock }: LeaseKeeperOptions,
  signal: AbortSignal,
): Promise<void> {
  const { name: holder } = manager;
  const credentials = keyMaterial("replication");
  const ask = async ({ name, host }: Peer): Promise<void> => {
    const askedMs = clock.monotonic();
    const within = AbortSignal.any([signal, AbortSignal.timeout(answerMsMax)]);
    const options = {
      ...credentials,
      method: "POST",
      body: { holder, term },
      serverName: host,
      signal: within,
    } as const;
    const answer = (await exchangeJson(`https://${host}:${managerPort}${leasePath}`, options)) as LeaseAnswer;
    if (answer.isGranted && manager.desired?.term === term) manager.grantedByPeer(name, askedMs);
  };
  await Promise.allSettled(peers.filter(({ name }) => name !== holder).map(ask));
}
