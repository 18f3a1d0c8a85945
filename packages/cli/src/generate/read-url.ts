import { get as getHttp, type IncomingMessage } from "node:http";
import { get as getHttps } from "node:https";
import { SetpointError, messageOf } from "@setpoint/apimachinery";

const redirectsMax = 5;
/** No answer for this long ends the request. */
const silenceMsMax = 20_000;
/** The largest bundles of CRDs known are a few megabytes. */
const bytesMax = 32 * 1024 * 1024;

/** The text that a URL answers with. Throws `ERR_SOURCE_UNREADABLE`. */
export async function readUrl(url: string): Promise<string> {
  try {
    return await follow(new URL(url), redirectsMax);
  } catch (cause) {
    const reason = messageOf(cause);
    throw new SetpointError("ERR_SOURCE_UNREADABLE", `Cannot read "${url}": ${reason}`);
  }
}

async function follow(url: URL, redirectsLeft: number): Promise<string> {
  const answer = await request(url);
  const { statusCode = 0, headers } = answer;
  if (statusCode >= 300 && statusCode < 400 && headers.location !== undefined) {
    answer.resume();
    if (redirectsLeft === 0) throw new Error(`it was redirected more than ${redirectsMax} times`);
    return follow(new URL(headers.location, url), redirectsLeft - 1);
  }
  if (statusCode !== 200) {
    answer.resume();
    throw new Error(`the server answered ${statusCode}, expected 200`);
  }
  return textOf(answer);
}

function request(url: URL): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const get = url.protocol === "https:" ? getHttps : getHttp;
    const sent = get(url, { headers: { "user-agent": "setpoint" } }, resolve);
    sent.setTimeout(silenceMsMax, () => sent.destroy(new Error(`the server was silent for ${silenceMsMax / 1000} s`)));
    sent.once("error", reject);
  });
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > bytesMax) throw new Error(`it is larger than ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
