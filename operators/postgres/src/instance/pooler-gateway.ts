/** How the operator asks the managers of poolers, and the primary's manager for their login. */
import type { ManagerAddress } from "./inner-gateway.ts";
import { exchangeJson } from "./json-exchange.ts";
import {
  type DesiredPooler,
  type PoolerLogin,
  poolerLoginPath,
  poolerPath,
  type PoolerReport,
} from "./pooler-protocol.ts";

const deadlineMs = 3_000;
const loginDeadlineMs = 20_000;

export interface PoolerGateway {
  readonly report: (at: ManagerAddress, signal: AbortSignal) => Promise<PoolerReport>;
  readonly instruct: (at: ManagerAddress, desired: DesiredPooler, signal: AbortSignal) => Promise<PoolerReport>;
  /** At the primary: the role by which poolers ask for verifiers. */
  readonly ensureLogin: (at: ManagerAddress, login: PoolerLogin, signal: AbortSignal) => Promise<void>;
}

/** Over HTTPS. */
export const httpsPoolerGateway: PoolerGateway = {
  report: async (at, signal) => (await send(at, "GET", poolerPath, undefined, signal, deadlineMs)) as PoolerReport,
  instruct: async (at, desired, signal) =>
    (await send(at, "PUT", poolerPath, desired, signal, deadlineMs)) as PoolerReport,
  ensureLogin: async (at, login, signal) =>
    void (await send(at, "PUT", poolerLoginPath, login, signal, loginDeadlineMs)),
};

function send(
  { url, certificates: { ca, certificate: cert, key, serverName } }: ManagerAddress,
  method: "GET" | "PUT",
  path: string,
  body: unknown,
  signal: AbortSignal,
  limitMs: number,
): Promise<unknown> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(limitMs)]);
  return exchangeJson(`${url}${path}`, { method, body, ca, cert, key, serverName, signal: within });
}
