import { expect, test } from "vitest";
import { badRequest, notFound } from "./api-errors.ts";

test("a NotFound error has no stack trace, and other errors keep theirs", () => {
  const error = notFound({ group: "apps", resource: "deployments" }, "a");
  expect(error.message).toBe('deployments.apps "a" not found');
  expect(error.stack).not.toContain("\n    at ");
  expect(badRequest("no").stack).toContain("\n    at ");
});
