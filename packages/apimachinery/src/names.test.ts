import { expect, test } from "vitest";
import {
  validateDns1035Label,
  validateDns1123Label,
  validateDns1123Subdomain,
  validateLabelValue,
  validatePathSegment,
  validateQualifiedName,
} from "./names.ts";

test.each([
  [validateDns1123Label, "web-0"],
  [validateDns1123Subdomain, "a.b-c.d0"],
  [validateDns1035Label, "web"],
  [validatePathSegment, "system:node-reader"],
  [validateQualifiedName, "example.com/Finalizer_1"],
  [validateQualifiedName, "app"],
  [validateLabelValue, ""],
  [validateLabelValue, "1.2-x_y"],
])("%o accepts %s", (validate, value) => {
  expect(validate(value)).toEqual([]);
});

test("a name with capitals is refused in the words of kubectl users", () => {
  expect(validateDns1123Subdomain("Web")).toEqual([
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
  ]);
  expect(validateDns1123Label("a_b")[0]).toContain("(e.g. 'my-name',  or '123-abc', regex used for validation is '");
});

test.each([
  [validateDns1123Label, "a.b", "must not contain dots"],
  [validateDns1123Label, "a".repeat(64), "must be no more than 63 characters"],
  [validateDns1035Label, "0a", "a DNS-1035 label must consist of"],
  [validatePathSegment, "..", "may not be '..'"],
  [validatePathSegment, "a/b", "may not contain '/'"],
  [validateQualifiedName, "/a", "prefix part must be non-empty"],
  [validateQualifiedName, "a.com/", "name part must be non-empty"],
  [validateQualifiedName, "a/b/c", "a valid label key must consist of"],
  [validateLabelValue, "-a", "a valid label must be an empty string or consist of"],
] as const)("%o refuses %s", (validate, value, text) => {
  expect(validate(value)[0]).toContain(text);
});
