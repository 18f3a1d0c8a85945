import { ApiError, failure } from "@setpoint/apimachinery";
import { expect, test } from "vitest";
import { refusalOf } from "./refusal.ts";

const invalid = (message: string): ApiError => new ApiError(failure(422, "Invalid", message));

test.each([
  [
    "a policy",
    "configmaps \"c\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no",
    "look",
  ],
  ["a webhook", 'admission webhook "a.example.com" denied the request: no', "look"],
  ["the rules of the kind", 'Candy "mint" is invalid: spec.flavor: Unsupported value: "soap"', "change"],
] as const)("what %s refuses is tried again when that may help", (_, message, until) => {
  expect(refusalOf(invalid(message), () => true)).toEqual({ reason: "Rejected", message, until });
});
