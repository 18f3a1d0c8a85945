import { badRequest } from "../response/api-errors.ts";

/**
 * Where a paged list goes on: the revision of its first page (-1: the newest) and the first path that may
 * come.
 */
export interface ContinueToken {
  readonly revision: number;
  readonly start: string;
}

const tokenVersion = "meta.k8s.io/v1";

/** base64url of JSON, as upstream's; opaque to clients. */
export function formatContinueToken(token: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: tokenVersion, rv: token.revision, start: token.start })).toString("base64url");
}

export function parseContinueToken(text: string): ContinueToken {
  try {
    const json: unknown = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
    const { v, rv, start } = json as { v?: unknown; rv?: unknown; start?: unknown };
    if (v === tokenVersion && Number.isSafeInteger(rv) && typeof start === "string")
      return { revision: Number(rv), start };
  } catch {
    // Falls through to the one answer for everything that is no token of ours.
  }
  throw badRequest("invalid continue token: continue key is not valid: it was not made by this server");
}
