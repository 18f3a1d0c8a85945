/** Asks another instance for the primary's lease, over HTTPS. */
import { exchangeJson } from "../instance/json-exchange.ts";
import { leasePath } from "../instance/manager-paths.ts";
import type { LeaseAnswer } from "../instance/instance-protocol.ts";
import { managerPort } from "../kind/names.ts";
import { keyMaterial } from "./certificate-files.ts";
import type { AskPeer } from "./lease-keeper.ts";

/** Below the time between two questions. */
const answerMsMax = 900;

export const askPeer: AskPeer = async ({ host }, request, signal) => {
  const options = {
    ...keyMaterial("replication"),
    method: "POST",
    body: request,
    serverName: host,
    signal: AbortSignal.any([signal, AbortSignal.timeout(answerMsMax)]),
  } as const;
  return (await exchangeJson(`https://${host}:${managerPort}${leasePath}`, options)) as LeaseAnswer;
};
