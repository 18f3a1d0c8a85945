/**
 * Who may see what a process tells of itself: the server is asked who the bearer of a token is and what he
 * may.
 */
import { SubjectAccessReview, TokenReview } from "@setpoint/api";
import type { Client } from "@setpoint/client";
import type { Clock, Logger } from "@setpoint/host";

// Not imported: to read what node:crypto exports is to load the web's cryptography, too.
const { createHash } = process.getBuiltinModule("node:crypto");

/**
 * `busy`: it could not be found out for now. `needs TLS`: nobody is asked for a token where others could read
 * it.
 */
export type AccessDecision = "allowed" | "unauthenticated" | "forbidden" | "busy" | "needs TLS";

/** A request to the status server: may this token use this verb on this path? */
export interface AccessQuestion {
  /** The bearer token of the request. */
  readonly token: string | undefined;
  readonly verb: "get" | "put";
  readonly path: string;
}

/** Decides whether the status server answers a request. */
export type StatusAccess = (question: AccessQuestion) => Promise<AccessDecision>;

/** Answers are remembered for so long: a scrape every few seconds must not become as many reviews. */
const rememberMs = 10_000;
const rememberedMax = 1_000;
/** Reviews under way; a flood of requests must not become a flood at the API server. */
const reviewsMax = 10;

/** The client that sends the reviews, and the clock that expires remembered answers. */
export interface ReviewedAccessOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Lets those pass whom a TokenReview knows and a SubjectAccessReview allows the path (a ClusterRole with
 * `nonResourceURLs: ["/metrics"]`). The process's account needs `create` on `tokenreviews` and
 * `subjectaccessreviews`.
 */
export function reviewedAccess({ client, clock, log }: ReviewedAccessOptions): StatusAccess {
  const remembered = new Map<string, { readonly decision: AccessDecision; readonly untilMs: number }>();
  let reviews = 0;
  const review = async (question: AccessQuestion, token: string): Promise<AccessDecision> => {
    if (reviews >= reviewsMax) return "busy";
    reviews++;
    try {
      return await decide(client, question, token);
    } catch (error) {
      log.warn("Access to the status could not be reviewed", { path: question.path, error });
      return "busy";
    } finally {
      reviews--;
    }
  };
  return async (question) => {
    const { token, verb, path } = question;
    if (token === undefined || token === "") return "unauthenticated";
    // Not the token itself: it would stay in memory and in every dump of it.
    const key = createHash("sha256").update(`${verb} ${path} ${token}`).digest("base64");
    const known = remembered.get(key);
    if (known !== undefined && known.untilMs > clock.monotonic()) return known.decision;
    const decision = await review(question, token);
    remembered.delete(key);
    if (decision === "busy") return decision;
    remembered.set(key, { decision, untilMs: clock.monotonic() + rememberMs });
    const oldest = remembered.keys().next();
    if (remembered.size > rememberedMax && oldest.done !== true) remembered.delete(oldest.value);
    return decision;
  };
}

async function decide(client: Client, { verb, path }: AccessQuestion, token: string): Promise<AccessDecision> {
  const { status } = await client.create(TokenReview, TokenReview({ spec: { token } }));
  if (status?.authenticated !== true || status.user === undefined) return "unauthenticated";
  const { username, groups, uid, extra } = status.user;
  const answer = await client.create(
    SubjectAccessReview,
    SubjectAccessReview({
      spec: {
        nonResourceAttributes: { path, verb },
        ...(username === undefined ? {} : { user: username }),
        ...(groups === undefined ? {} : { groups }),
        ...(uid === undefined ? {} : { uid }),
        ...(extra === undefined ? {} : { extra }),
      },
    }),
  );
  return answer.status?.allowed === true ? "allowed" : "forbidden";
}

/** For a desk: every client that reaches the address may read; use a loopback address. */
export const openAccess: StatusAccess = () => Promise.resolve("allowed");
