import { ApiError, failure, SetpointError } from "@setpoint/apimachinery";
import { expect, test } from "vitest";
import { sentenceOf } from "./sentence-of.ts";

test("an error is a sentence with its cause, said once; only what must be a bug has a stack", () => {
  const cause = new Error("permission denied");
  expect(sentenceOf(new SetpointError("ERR_FOLDER", "Cannot use it", { cause }))).toBe(
    "Cannot use it (permission denied)",
  );
  expect(sentenceOf(new SetpointError("ERR_FOLDER", "Cannot use it: permission denied", { cause }))).toBe(
    "Cannot use it: permission denied",
  );
  expect(sentenceOf("nothing")).toBe("nothing");
  expect(sentenceOf(new Error("a bug"))).toContain("\n    at ");
});

test("who is not known to the server is told what may be wrong", () => {
  expect(sentenceOf(new ApiError(failure(401, "Unauthorized", "Unauthorized")))).toMatch(
    /^Cannot ask the server: it does not know who asks; the token or client certificate of the kubeconfig is /,
  );
});
