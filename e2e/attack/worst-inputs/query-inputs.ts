/** Selectors, paths and headers that are as long as they may be. */
import { json, many, post, type WorstInput } from "./worst-input.ts";

/** Headers and the first line together have at most 16 kB. */
const lineMax = 14_000;
const get = (
  name: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  status?: number,
): WorstInput => ({
  name,
  path,
  headers,
  ...(status === undefined ? {} : { status }),
});

export const queryInputs: readonly WorstInput[] = [
  get("a selector of many requirements", `/api/v1/pods?labelSelector=${many((i) => `a!=${i}`, lineMax)}`),
  get("a selector of one long set", `/api/v1/pods?labelSelector=a+in+(${many((i) => `b${i}`, lineMax)})`),
  get("a selector of parentheses", `/api/v1/pods?labelSelector=${"(".repeat(lineMax)}`, {}, 400),
  get("a selector of exclamation marks", `/api/v1/pods?labelSelector=${"!".repeat(lineMax)}`, {}, 400),
  get("a selector of commas", `/api/v1/pods?labelSelector=${",".repeat(lineMax)}`),
  get("a selector of a long key", `/api/v1/pods?labelSelector=${"a".repeat(lineMax)}`),
  get("a selector of dashes", `/api/v1/pods?labelSelector=${"a-".repeat(lineMax / 2)}!`),
  get("a field selector of many requirements", `/api/v1/pods?fieldSelector=${many(() => "metadata.name!=a", lineMax)}`),
  get("a field selector of backslashes", `/api/v1/pods?fieldSelector=metadata.name=${"\\".repeat(lineMax)}`),
  get("a shard selector of garbage", `/api/v1/pods?shardSelector=${"(".repeat(lineMax)}`),
  get("a continue token of garbage", `/api/v1/pods?limit=1&continue=${"A".repeat(lineMax)}`, {}, 400),
  get(
    "a continue token of nested lists",
    `/api/v1/pods?limit=1&continue=${Buffer.from("[".repeat(10_000)).toString("base64url")}`,
    {},
    400,
  ),
  get(
    "a continue token with a start of many bytes",
    `/api/v1/pods?limit=1&continue=${Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv: 1, start: "\0".repeat(1_500) })).toString("base64url")}`,
  ),
  get("a limit beyond all numbers", "/api/v1/pods?limit=99999999999999999999", {}, 400),
  get("a revision beyond all numbers", "/api/v1/pods?resourceVersion=99999999999999999999", {}, 400),
  get("a query of many parameters", `/api/v1/pods?${"a&".repeat(lineMax / 2)}`),
  get("a query of broken escapes", `/api/v1/pods?labelSelector=${"%zz".repeat(lineMax / 3)}`),
  get("a query of __proto__", "/api/v1/pods?__proto__=1&constructor=2&watch[]=1"),
  get(
    "an accept header of many clauses",
    "/api/v1/pods",
    { accept: many((i) => `a/b;q=0.${i};as=Table`, lineMax) },
    406,
  ),
  get("an accept header of semicolons", "/api/v1/pods", { accept: ";".repeat(lineMax) }),
  get("an authorization header of spaces", "/api/v1/pods", { authorization: `Bearer ${"a ".repeat(lineMax / 2)}` }),
  { ...get("a token of dots", "/api/v1/pods", {}, 401), as: ".".repeat(lineMax) },
  { ...get("a token of many bytes", "/api/v1/pods", {}, 401), as: `a.${"b".repeat(lineMax)}.c` },
  get("an impersonated key with a broken escape", "/api/v1/pods", {
    "impersonate-user": "a",
    "impersonate-extra-%zz": "b",
  }),
  get("many impersonated groups", "/api/v1/pods", {
    "impersonate-user": "a",
    "impersonate-group": many((i) => `g${i}`, lineMax),
  }),
  get("an audit id of many bytes", "/version", { "audit-id": "a".repeat(lineMax) }),
];

export const pathInputs: readonly WorstInput[] = [
  get("a path with a broken escape", "/%zz", {}, 400),
  get("a name with a broken escape", "/api/v1/namespaces/default/pods/%zz", {}, 400),
  get("a path with half an escape", "/api/v1/%", {}, 400),
  get("a path whose bytes are no UTF-8", "/api/v1/namespaces/default/pods/%ff%fe"),
  get("a name with an escaped slash", "/api/v1/namespaces/default/pods/a%2f..%2fb"),
  get("a name with a zero byte", "/api/v1/namespaces/default/pods/%00"),
  get("two slashes", "//"),
  get("two slashes and a host", "//evil/api"),
  get("a path of slashes", "/".repeat(lineMax)),
  get("a path of dots", "/api/v1/../../etc/passwd"),
  get("a path of many segments", "/a".repeat(lineMax / 2)),
  get("a kind called __proto__", "/api/v1/__proto__"),
  get("a group called constructor", "/apis/constructor/v1/pods"),
  get("a whole address as path", "http://evil.example/api"),
  { name: "OPTIONS of everything", method: "OPTIONS", path: "*" },
  { name: "a method of its own", method: "PROPFIND", path: "/api" },
  { name: "TRACE", method: "TRACE", path: "/api" },
  post("a body in an encoding", "x", 415, { ...json, "content-encoding": "gzip" } as never),
  post("a body of an unknown type", "x", 415, { "content-type": "text/plain" }),
  post("a body whose type is a long line", "x", 415, { "content-type": `a/${"b;".repeat(lineMax / 2)}` }),
  post("an empty body", "", 400),
];
