/** One request with a JSON answer over HTTPS, with certificates on both sides. */
import { request } from "node:https";

export interface ExchangeOptions {
  readonly method: "GET" | "PUT" | "POST";
  readonly body?: unknown;
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  /** A name that the server's certificate must have. */
  readonly serverName: string;
  readonly signal: AbortSignal;
}

/** A report has a few hundred bytes; a larger answer is no manager's. */
const answerBytesMax = 1 << 20;

/** Resolves to the parsed answer; rejects for any status but 200, with what the answer says. */
export function exchangeJson(url: string, options: ExchangeOptions): Promise<unknown> {
  const { method, body, ca, cert, key, serverName, signal } = options;
  const payload = body === undefined ? "" : JSON.stringify(body);
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(payload) };
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      { method, headers, signal, ca, cert, key, servername: serverName, agent: false },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          text += chunk;
          if (text.length > answerBytesMax)
            sent.destroy(new Error(`The answer of ${url} is larger than ${answerBytesMax} bytes`));
        });
        response.on("error", reject);
        response.on("end", () => {
          if (response.statusCode === 200) resolve(parse(url, text, reject));
          else reject(new Error(`${url} answered ${response.statusCode}: ${text.slice(0, 300)}`));
        });
      },
    );
    sent.on("error", reject);
    sent.end(payload);
  });
}

function parse(url: string, text: string, reject: (error: Error) => void): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    reject(new Error(`${url} answered with no JSON`, { cause }));
    return undefined;
  }
}
