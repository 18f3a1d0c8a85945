import { nodeError } from "../../errors.ts";

/** What is wrong with an image; `loadImages` adds which one. */
export function refusal(why: string, cause?: unknown): Error {
  return nodeError("ERR_IMAGE_ARCHIVE", why, cause);
}
