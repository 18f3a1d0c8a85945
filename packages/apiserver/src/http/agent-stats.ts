/** Asks the agent of a node what its pods use. */
import type { IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";
import type { ReadSummary } from "../metrics/node-samples.ts";
import { agentAddress, type AgentHost } from "./node-address.ts";

/** A node with a thousand pods sends less. */
const summaryBytesMax = 8 * 1024 * 1024;

/** With the certificate as which the API server calls agents. */
export function agentStats(
  tls: { readonly ca: string; readonly cert: string; readonly key: string },
  hostOf?: AgentHost,
): ReadSummary {
  return async (node, signal) => {
    const answer = await ask({ ...agentAddress(node, hostOf), ...tls }, signal);
    return JSON.parse(await readAll(answer)) as unknown;
  };
}

function ask(agent: object, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = requestHttps({ ...agent, path: "/stats/summary", signal, agent: false });
    request.once("response", resolve);
    request.once("error", reject);
    request.end();
  });
}

async function readAll(answer: IncomingMessage): Promise<string> {
  if (answer.statusCode !== 200) {
    answer.destroy();
    throw new Error(`Cannot use the answer of the agent: expected status 200, got ${answer.statusCode}`);
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer) {
    const part = chunk as Buffer;
    bytes += part.length;
    if (bytes > summaryBytesMax)
      throw new Error(`Cannot use the answer of the agent: longer than ${summaryBytesMax} bytes`);
    chunks.push(part);
  }
  return Buffer.concat(chunks).toString();
}
