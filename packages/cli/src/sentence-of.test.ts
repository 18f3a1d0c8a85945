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

test("a server that does not listen is named, with what to do", () => {
  const cause = new SetpointError(
    "ERR_CONNECTION_FAILED",
    'Cannot connect to "https://127.0.0.1:1": connect ECONNREFUSED 127.0.0.1:1',
  );
  const error = new SetpointError("ERR_NO_ANSWER", "Cannot PATCH /apis: the server did not answer", { cause });
  expect(sentenceOf(error)).toBe(
    'Cannot connect to "https://127.0.0.1:1": connect ECONNREFUSED 127.0.0.1:1; start the cluster ' +
      '("setpoint up" starts one on this machine), or name another one with --kubeconfig or --context',
  );
});

test("an account that the server does not know gets the likely causes", () => {
  expect(sentenceOf(new ApiError(failure(401, "Unauthorized", "Unauthorized")))).toMatch(
    /^Cannot send the request: the server cannot authenticate it; the token or client certificate of the kubeconfig is /,
  );
});
