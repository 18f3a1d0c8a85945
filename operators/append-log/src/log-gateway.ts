/** How the operator talks to the servers of an AppendLog. */
import { getText, postJson } from "./server/http-request.ts";
import { type MemberReport, memberReport } from "./server/log-server.ts";

/** Addresses are URLs without a path. All calls reject when the server does not answer. */
export interface LogGateway {
  report(address: string, signal: AbortSignal): Promise<MemberReport>;
  promote(address: string, timeline: number, signal: AbortSignal): Promise<void>;
  follow(address: string, primary: string, signal: AbortSignal): Promise<void>;
}

export const httpLogGateway: LogGateway = {
  report: async (address, signal) => memberReport.parse(JSON.parse(await getText(`${address}/report`, signal))),
  promote: async (address, timeline, signal) => void (await postJson(`${address}/promote`, { timeline }, signal)),
  follow: async (address, primary, signal) => void (await postJson(`${address}/follow`, { address: primary }, signal)),
};
