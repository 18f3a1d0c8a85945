/** The gateway over HTTPS. */
import { type InstanceGateway, type ManagerCertificates } from "./instance-gateway.ts";
import type { DesiredInstance, InstanceReport, LeaseRequest } from "./instance-protocol.ts";
import { exchangeJson } from "./json-exchange.ts";
import { desiredPath, reportPath } from "./manager-paths.ts";

/** A healthy manager answers in milliseconds; the plan counts on this bound. */
const deadlineMs = 2_000;

export function httpsGateway(certificates?: ManagerCertificates): InstanceGateway {
  const send = async (
    url: string,
    method: "GET" | "PUT",
    body: unknown,
    signal: AbortSignal,
  ): Promise<InstanceReport> => {
    if (certificates === undefined) throw new Error(`Cannot call ${url}: the operator has no certificate yet`);
    const { ca, certificate: cert, key, serverName } = certificates;
    const within = AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]);
    return (await exchangeJson(url, { method, body, ca, cert, key, serverName, signal: within })) as InstanceReport;
  };
  return {
    withCertificates: (others) => httpsGateway(others),
    report: (address, lease, signal) => send(`${address}${reportPath}${leaseQuery(lease)}`, "GET", undefined, signal),
    instruct: (address, desired: DesiredInstance, signal) => send(`${address}${desiredPath}`, "PUT", desired, signal),
  };
}

function leaseQuery(lease: LeaseRequest | undefined): string {
  return lease === undefined ? "" : `?holder=${encodeURIComponent(lease.holder)}&term=${lease.term}`;
}
