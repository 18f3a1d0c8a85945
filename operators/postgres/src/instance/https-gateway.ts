/** The gateway over HTTPS. */
import { type InstanceGateway, type ManagerCertificates } from "./instance-gateway.ts";
import type { InstanceReport, LeaseRequest } from "./instance-protocol.ts";
import { exchangeJson } from "./json-exchange.ts";
import { desiredPath, reportPath, restartPath } from "./manager-paths.ts";
import { dropUserPath, loginPath, userPath } from "./user-protocol.ts";

/** A healthy manager answers in milliseconds; the plan counts on this bound. */
const deadlineMs = 2_000;
/** A user is changed in each database, and what it owns may be much. */
const userDeadlineMs = 20_000;

interface Call {
  readonly method: "GET" | "PUT" | "POST";
  readonly body?: unknown;
  readonly limitMs?: number;
}

export function httpsGateway(certificates?: ManagerCertificates): InstanceGateway {
  const send = async (url: string, call: Call, signal: AbortSignal): Promise<unknown> => {
    if (certificates === undefined) throw new Error(`Cannot call ${url}: the operator has no certificate yet`);
    const { ca, certificate: cert, key, serverName } = certificates;
    const { method, body, limitMs = deadlineMs } = call;
    const within = AbortSignal.any([signal, AbortSignal.timeout(limitMs)]);
    return exchangeJson(url, { method, body, ca, cert, key, serverName, signal: within });
  };
  const change = async (url: string, method: "PUT" | "POST", body: unknown, signal: AbortSignal): Promise<void> =>
    void (await send(url, { method, body, limitMs: userDeadlineMs }, signal));
  return {
    withCertificates: (others) => httpsGateway(others),
    report: async (address, lease, signal) =>
      (await send(`${address}${reportPath}${leaseQuery(lease)}`, { method: "GET" }, signal)) as InstanceReport,
    instruct: async (address, desired, signal) =>
      (await send(`${address}${desiredPath}`, { method: "PUT", body: desired }, signal)) as InstanceReport,
    restart: async (address, startedAt, signal) =>
      void (await send(`${address}${restartPath}`, { method: "POST", body: { startedAt } }, signal)),
    ensureUser: (address, user, signal) => change(`${address}${userPath}`, "PUT", user, signal),
    proveLogin: (address, login, signal) => change(`${address}${loginPath}`, "POST", login, signal),
    dropUser: (address, user, signal) => change(`${address}${dropUserPath}`, "POST", user, signal),
  };
}

function leaseQuery(lease: LeaseRequest | undefined): string {
  return lease === undefined ? "" : `?holder=${encodeURIComponent(lease.holder)}&term=${lease.term}`;
}
