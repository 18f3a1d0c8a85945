/** What the Prometheus of a pod says of the targets of one job, in few words. */
import { requestOf } from "./reload-request.ts";

/** The targets of one scrape job of one Prometheus. */
export interface PoolReport {
  readonly active: number;
  readonly up: number;
  /** They were not scraped yet. */
  readonly unknown: number;
  /** The first targets that are down, each with a message of its own. */
  readonly failures: readonly { readonly target: string; readonly message: string }[];
}

const deadlineMs = 1_500;
/** A target takes about 2 KB. */
const answerBytesMax = 16_777_216;
const failuresMax = 3;
const messageLengthMax = 300;

/** Asks for one job alone. `reloadUrl` is where the server is asked to reload. */
export async function requestPool(reloadUrl: string, pool: string, signal: AbortSignal): Promise<PoolReport> {
  const query = new URLSearchParams({ state: "active", scrapePool: pool }).toString();
  const text = await requestText(`${reloadUrl.replace(/\/-\/reload$/, "")}/api/v1/targets?${query}`, signal);
  return poolReport(JSON.parse(text), pool);
}

function requestText(url: string, signal: AbortSignal): Promise<string> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]);
  return new Promise((resolve, reject) => {
    const sent = requestOf(url, { agent: false, signal: within }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
        if (text.length > answerBytesMax) sent.destroy(new Error("The list of targets is too long"));
      });
      response.on("error", reject);
      response.on("end", () => {
        if (response.statusCode === 200) resolve(text);
        else reject(new Error(`The server answered ${response.statusCode ?? 0}`));
      });
    });
    sent.on("error", reject);
    sent.end();
  });
}

interface Target {
  readonly scrapePool?: unknown;
  readonly scrapeUrl?: unknown;
  readonly health?: unknown;
  readonly lastError?: unknown;
}

/** Servers before 2.42 do not know the filter, and list all jobs. */
export function poolReport(answer: unknown, pool: string): PoolReport {
  const { data } = answer as { readonly data?: { readonly activeTargets?: readonly Target[] } };
  const targets = (data?.activeTargets ?? []).filter(({ scrapePool }) => scrapePool === pool);
  const messages = new Map<string, string>();
  for (const { health, scrapeUrl, lastError } of targets) {
    if (health !== "down") continue;
    const message = String(lastError).slice(0, messageLengthMax);
    if (!messages.has(message)) messages.set(message, withoutQuery(String(scrapeUrl)));
  }
  return {
    active: targets.length,
    up: targets.filter(({ health }) => health === "up").length,
    unknown: targets.filter(({ health }) => health !== "up" && health !== "down").length,
    failures: [...messages].slice(0, failuresMax).map(([message, target]) => ({ target, message })),
  };
}

/** Parameters may be secret. */
function withoutQuery(url: string): string {
  return url.replace(/\?.*$/s, "").replace(/\/\/[^/@]*@/, "//");
}
