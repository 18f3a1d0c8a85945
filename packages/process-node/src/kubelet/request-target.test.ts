import { expect, test } from "vitest";
import { nodeAttributes } from "./node-attributes.ts";
import { readTarget } from "./request-target.ts";

test.each(["/%zz", "//", "//evil/x", "/exec/%", "*", "http://[", "", undefined, "/a%00b", "/%c0%ae", "/a%0d%0ab"])(
  "a target that is no path (%s) is none",
  (url) => expect(readTarget(url)).toBeUndefined(),
);

test("segments and query are decoded", () => {
  const target = readTarget("/exec/shop/web-0//main?command=a%20b&command=c");
  expect(target?.segments).toEqual(["exec", "shop", "web-0", "main"]);
  expect(target?.query.getAll("command")).toEqual(["a b", "c"]);
});

test.each([
  ["GET", "exec", "get", ["proxy"]],
  ["POST", "exec", "create", ["proxy"]],
  ["GET", "stats", "get", ["stats"]],
  ["GET", "metrics", "get", ["metrics"]],
  ["GET", "logs", "get", ["log"]],
  ["GET", "containerLogs", "get", ["proxy"]],
  ["GET", "pods", "get", ["pods", "proxy"]],
  ["GET", "healthz", "get", ["healthz", "proxy"]],
  ["DELETE", "constructor", "delete", ["proxy"]],
  ["TRACE", "", "", ["proxy"]],
])("%s /%s asks to %s nodes/%s", (method, root, verb, subresources) => {
  expect(nodeAttributes(method, root)).toEqual({ verb, subresources });
});
