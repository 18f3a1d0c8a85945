/** Asks another instance for the primary's lease, over HTTPS. */
import { exchangeJson } from "../instance/json-exchange.ts";
import { leasePath } from "../instance/manager-paths.ts";
import type { LeaseAnswer } from "../instance/instance-protocol.ts";
import { managerPort } from "../kind/names.ts";
import { keyMaterial } from "./certificate-files.ts";
import { type AskPeer, peerMsMax } from "./lease-keeper.ts";

export const askPeer: AskPeer = async ({ host }, request, signal) => {
  const options = {
    ...keyMaterial("replication"),
    method: "POST",
    body: request,
    serverName: host,
    isFrequent: true,
    signal: AbortSignal.any([signal, AbortSignal.timeout(peerMsMax)]),
  } as const;
  return (await exchangeJson(`https://${host}:${managerPort}${leasePath}`, options)) as LeaseAnswer;
};
