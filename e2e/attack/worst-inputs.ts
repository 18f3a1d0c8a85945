/** The worst bodies, queries and headers that fit into the limits of a request, one line a decoder. */
import type { RawRequest } from "./target.ts";

export interface WorstInput extends RawRequest {
  readonly name: string;
  /** What it gets; anything below 500 unless it is set. */
  readonly status?: number;
}

const configMaps = "/api/v1/namespaces/default/configmaps";
const pods = "/api/v1/namespaces/default/pods";
const json = { "content-type": "application/json" };
const yaml = { "content-type": "application/yaml" };
const protobuf = { "content-type": "application/vnd.kubernetes.protobuf" };
/** A little less than a request may have. */
const bytesMax = 3 * 1024 * 1024 - 1_000;

const head = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"worst"';

/** As many parts as fit. */
function many(part: (i: number) => string, bytes = bytesMax): string {
  const parts: string[] = [];
  for (let size = 0, i = 0; ; i++) {
    const next = part(i);
    size += next.length + 1;
    if (size > bytes) return parts.join(",");
    parts.push(next);
  }
}

function nested(open: string, close: string, bytes = bytesMax): string {
  const depth = Math.floor(bytes / (open.length + close.length)) - 10;
  return open.repeat(depth) + close.repeat(depth);
}

const post = (
  name: string,
  body: string | Uint8Array,
  status?: number,
  headers = json,
  path = configMaps,
): WorstInput => ({
  name,
  method: "POST",
  path,
  headers,
  body,
  ...(status === undefined ? {} : { status }),
});

const jsonInputs: readonly WorstInput[] = [
  post("JSON of lists in lists", nested("[", "]"), 400),
  post("JSON of objects in objects", `${head}},"data":${nested('{"a":', "}").replace("}", "1}")}}`, 400),
  post("JSON nested deeper than the stack, under an unknown field", `${head}},"x":${nested("[", "]")}}`, 400),
  post("JSON nested 2,000 levels deep", `${head}},"x":${"[".repeat(2_000)}${"]".repeat(2_000)}}`, 400),
  post("JSON that is cut off", `${head}`, 400),
  post(
    "JSON with bytes that are no UTF-8",
    Buffer.from([...Buffer.from(`${head}},"data":{"a":"`), 0xff, 0xc0, 0x22, 0x7d, 0x7d]),
  ),
  post("many keys", `${head}},"data":{${many((i) => `"${i.toString(36)}":""`)}}}`),
  post("many labels", `${head},"labels":{${many((i) => `"${i.toString(36)}":""`)}}}}`),
  post("many annotations", `${head},"annotations":{${many((i) => `"${i.toString(36)}":""`)}}}}`),
  post("many finalizers", `${head},"finalizers":[${many((i) => `"a.b/${i.toString(36)}"`)}]}}`),
  post(
    "many owners",
    `${head},"ownerReferences":[${many((i) => `{"apiVersion":"v1","kind":"Pod","name":"a","uid":"${i}"}`)}]}}`,
  ),
  post(
    "many managers",
    `${head},"managedFields":[${many((i) => `{"manager":"${i}","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{}}}`)}]}}`,
  ),
  post("many fields that no schema knows", `${head}},${many((i) => `"${i.toString(36)}":1`)}}`),
  post("many numbers", `${head}},"x":[${many(() => "1e1")}]}`),
  post(
    "many containers",
    `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"w"},"spec":{"containers":[${many((i) => `{"name":"a${i}","image":"b"}`)}]}}`,
    undefined,
    json,
    pods,
  ),
  post(
    "many variables",
    `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"w"},"spec":{"containers":[{"name":"a","image":"b","env":[${many((i) => `{"name":"a${i}"}`)}]}]}}`,
    undefined,
    json,
    pods,
  ),
  post(
    "many tolerations",
    `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"w"},"spec":{"tolerations":[${many((i) => `{"key":"a${i}"}`)}],"containers":[]}}`,
    undefined,
    json,
    pods,
  ),
  post("ConfigMap of 1 MiB and a byte", `${head}},"data":{"a":"${"x".repeat(1024 * 1024 + 1)}"}}`, 422),
  post(
    "Secret of 1 MiB and a byte",
    `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"worst"},"stringData":{"a":"${"x".repeat(1024 * 1024 + 1)}"}}`,
    422,
    json,
    "/api/v1/namespaces/default/secrets",
  ),
  post(
    "object of 2 MB",
    `${head},"annotations":{"a":"${"x".repeat(200_000)}"}},"data":{"a":"${"x".repeat(1_800_000)}"}}`,
    422,
  ),
  post("annotations of 256 KiB and a byte", `${head},"annotations":{"a":"${"x".repeat(256 * 1024)}"}}}`, 422),
  post("a number of a million digits", `${head}},"x":${"9".repeat(1_000_000)}}`),
];

/** As many values as a body may have, where each of them is looked at together with others. */
const allowed = 500_000;
const crowdedInputs: readonly WorstInput[] = [
  post("as many keys as may be", `${head}},"data":{${many((i) => `"${i.toString(36)}":""`, allowed)}}}`),
  post("as many labels as may be", `${head},"labels":{${many((i) => `"${i.toString(36)}":""`, allowed)}}}}`),
  post("as many finalizers as may be", `${head},"finalizers":[${many((i) => `"a.b/${i.toString(36)}"`, allowed)}]}}`),
  post(
    "as many owners as may be",
    `${head},"ownerReferences":[${many((i) => `{"apiVersion":"v1","kind":"Pod","name":"a","uid":"${i}"}`, 700_000)}]}}`,
  ),
  post(
    "as many managers as may be",
    `${head},"managedFields":[${many((i) => `{"manager":"${i}","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{}}}`, 900_000)}]}}`,
  ),
  post("as many unknown fields as may be", `${head}},${many((i) => `"${i.toString(36)}":1`, allowed)}}`),
  post(
    "as many containers as may be",
    `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"w"},"spec":{"containers":[${many((i) => `{"name":"a${i}","image":"b"}`, allowed)}]}}`,
    undefined,
    json,
    pods,
  ),
  post(
    "as many variables as may be",
    `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"v"},"spec":{"containers":[{"name":"a","image":"b","env":[${many((i) => `{"name":"a${i}"}`, allowed)}]}]}}`,
    undefined,
    json,
    pods,
  ),
];

const aliases = Array.from({ length: 30 }, (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i},`.repeat(9)}*a${i}]`);

const yamlInputs: readonly WorstInput[] = [
  post("YAML with many keys", many((i) => `\n${i.toString(36)}: 1`, 600_000).replaceAll(",", ""), undefined, yaml),
  post("YAML with many keys in one flow map", `{${many((i) => `${i.toString(36)}: 1`)}}`, undefined, yaml),
  post("YAML with many keys, 189 kB", many((i) => `\nk${i}: 1`, 189_000).replaceAll(",", ""), undefined, yaml),
  post("YAML that doubles itself by aliases", `a0: &a0 x\n${aliases.join("\n")}\n`, 400, yaml),
  post(
    "YAML that repeats one large node",
    `a: &a ${"x".repeat(1_000_000)}\nb: [${"*a,".repeat(90)}*a]\n`,
    undefined,
    yaml,
  ),
  post(
    "YAML that merges maps into maps",
    `a0: &a0 {${many((i) => `k${i}: 1`, 50_000)}}\n${many((i) => `\na${i + 1}: &a${i + 1}\n  <<: *a${i}\n  n${i}: 1`, 50_000).replaceAll(",", "")}`,
    undefined,
    yaml,
  ),
  post("YAML of lists in lists", nested("[", "]", 50_000), undefined, yaml),
  post("YAML of open lists", "[".repeat(100_000), undefined, yaml),
  post("YAML of dashes", "- ".repeat(50_000), undefined, yaml),
  post("YAML of indented maps", Array.from({ length: 2_000 }, (_, i) => `${" ".repeat(i)}a:`).join("\n"), 400, yaml),
  post("YAML of question marks", "? ".repeat(30_000), undefined, yaml),
  post("YAML of anchors", many((i) => `\n- &a${i} b`, 100_000).replaceAll(",", ""), undefined, yaml),
  post("YAML of tags", many(() => "\n- !a!b c", 50_000).replaceAll(",", ""), undefined, yaml),
  post("YAML of documents", "---\na: 1\n".repeat(30_000), undefined, yaml),
  post("YAML of comments", "#\n".repeat(50_000), undefined, yaml),
  post("YAML of empty lines in a string", `a: "${"\n".repeat(300_000)}"`, undefined, yaml),
  post("YAML of folded lines", `a: >\n${" b\n\n".repeat(70_000)}`, undefined, yaml),
  post("YAML of quotes", `a: '${"''".repeat(150_000)}'`, undefined, yaml),
  post("YAML of spaces", `a: "${" ".repeat(300_000)}`, 400, yaml),
  post("YAML of colons", ":".repeat(300_000), undefined, yaml),
  post("YAML with an alias of nothing", "a: *b", 400, yaml),
  post("YAML with an alias of itself", "a: &a [*a]", 400, yaml),
  post("YAML with bytes that are no UTF-8", Buffer.from([0x61, 0x3a, 0x20, 0xff, 0xfe]), 400, yaml),
];

function varint(value: number): number[] {
  const bytes: number[] = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
  return [...bytes, value];
}

function field(number: number, content: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...varint(content.length)]), content]);
}

function envelope(kind: string, raw: Uint8Array, apiVersion = "v1"): Buffer {
  const type = Buffer.concat([field(1, Buffer.from(apiVersion)), field(2, Buffer.from(kind))]);
  return Buffer.concat([Buffer.from("k8s\0"), field(1, type), field(2, raw)]);
}

function repeated(part: Buffer): Buffer {
  return Buffer.alloc(Math.floor(bytesMax / part.length) * part.length, part);
}

const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

function deepSchema(levels: number): Buffer {
  let schema: Buffer = Buffer.alloc(0);
  // 28 is `not`.
  for (let i = 0; i < levels; i++)
    schema = Buffer.concat([Buffer.from([0xe2, 0x01, ...varint(schema.length)]), schema]);
  return schema;
}

const protobufInputs: readonly WorstInput[] = [
  post("protobuf that is none", "k8s", 400, protobuf),
  post("protobuf without a kind", Buffer.from("k8s\0"), 400, protobuf),
  post("protobuf of garbage", Buffer.concat([Buffer.from("k8s\0"), Buffer.alloc(10_000, 0xff)]), 400, protobuf),
  post("protobuf of an unknown kind", envelope("Nothing", Buffer.alloc(0)), 400, protobuf),
  post("protobuf of a kind called __proto__", envelope("__proto__", Buffer.alloc(0)), 400, protobuf),
  post("protobuf with a wrong wire type", envelope("ConfigMap", Buffer.from([0x0f])), 400, protobuf),
  post("protobuf that ends in a field", envelope("ConfigMap", Buffer.from([0x0a, 0x7f])), 400, protobuf),
  post(
    "protobuf with a field of negative length",
    envelope("ConfigMap", Buffer.from([0x0a, ...Array.from({ length: 9 }, () => 0xff), 0x01])),
    400,
    protobuf,
  ),
  post(
    "protobuf with a number where a message stands",
    envelope("ConfigMap", Buffer.from([0x08, 0x01])),
    400,
    protobuf,
  ),
  post(
    "protobuf of many empty entries",
    envelope("ConfigMap", repeated(field(2, Buffer.alloc(0)))),
    undefined,
    protobuf,
  ),
  post("protobuf of many numbers", envelope("ConfigMap", repeated(Buffer.from([0x78, 0x01]))), undefined, protobuf),
  post(
    "protobuf of many containers",
    envelope("Pod", field(2, repeated(field(2, Buffer.alloc(0))))),
    undefined,
    protobuf,
    pods,
  ),
  post(
    "protobuf of a time far away",
    envelope("ConfigMap", field(1, field(8, Buffer.from([0x08, ...Array.from({ length: 9 }, () => 0xff), 0x01])))),
    undefined,
    protobuf,
  ),
  post(
    "protobuf of a time beyond all times",
    envelope("ConfigMap", field(1, field(8, Buffer.from([0x08, ...Array.from({ length: 8 }, () => 0xff), 0x7f])))),
    400,
    protobuf,
  ),
  post(
    "protobuf nested 90 levels deep",
    envelope("CustomResourceDefinition", deepSchema(90), "apiextensions.k8s.io/v1"),
    undefined,
    protobuf,
    crds,
  ),
  post(
    "protobuf nested 100,000 levels deep",
    envelope(
      "CustomResourceDefinition",
      field(2, field(7, field(7, field(1, deepSchema(20_000))))),
      "apiextensions.k8s.io/v1",
    ),
    undefined,
    protobuf,
    crds,
  ),
];

const target = `${configMaps}/kube-root-ca.crt`;
const patch = (name: string, type: string, body: string, status?: number): WorstInput => ({
  name,
  method: "PATCH",
  path: `${target}?fieldManager=worst&force=${type === "apply-patch+yaml"}`.replace(
    type === "apply-patch+yaml" ? "" : "&force=false",
    "",
  ),
  headers: { "content-type": `application/${type}` },
  body,
  ...(status === undefined ? {} : { status }),
});
const jsonPatch = "json-patch+json";
const operations = (count: number, operation: (i: number) => string): string =>
  `[${Array.from({ length: count }, (_, i) => operation(i)).join(",")}]`;

const patchInputs: readonly WorstInput[] = [
  patch(
    "a JSON patch of too many operations",
    jsonPatch,
    operations(10_001, () => '{"op":"test","path":"/kind","value":1}'),
    413,
  ),
  patch(
    "a JSON patch that doubles the object",
    jsonPatch,
    operations(60, (i) => `{"op":"copy","from":"","path":"/metadata/a${i}"}`),
    413,
  ),
  patch(
    "a JSON patch that nests the object",
    jsonPatch,
    operations(10_000, () => '{"op":"copy","from":"/metadata","path":"/metadata/a"}'),
    413,
  ),
  patch(
    "a JSON patch that tests one large value",
    jsonPatch,
    `[{"op":"add","path":"/x","value":[${many(() => "1", 1_000_000)}]},${operations(9_000, () => '{"op":"test","path":"/x/499999","value":1}').slice(1)}`,
  ),
  patch(
    "a JSON patch that compares large values",
    jsonPatch,
    `[{"op":"add","path":"/x","value":[${many(() => "1", 1_000_000)}]},${operations(9_000, () => '{"op":"test","path":"","value":{}}').slice(1)}`,
  ),
  patch(
    "a JSON patch that shifts a large list",
    jsonPatch,
    `[{"op":"add","path":"/x","value":[${many(() => "1", 2_000_000)}]},${operations(9_900, () => '{"op":"add","path":"/x/0","value":1}').slice(1)}`,
  ),
  patch(
    "a JSON patch of long pointers",
    jsonPatch,
    operations(900, () => `{"op":"test","path":"${"/a".repeat(1_500)}","value":null}`),
  ),
  patch(
    "a JSON patch of pointers with long indexes",
    jsonPatch,
    operations(10, () => `{"op":"add","path":"/metadata/finalizers/${"9".repeat(250_000)}","value":1}`),
  ),
  patch(
    "a JSON patch of nulls",
    jsonPatch,
    operations(10_000, () => "null"),
    400,
  ),
  patch("a merge patch of lists in lists", "merge-patch+json", `{"data":${nested("[", "]")}}`, 400),
  patch(
    "a merge patch of objects in objects",
    "merge-patch+json",
    `{"data":${nested('{"a":', "}").replace("}", "1}")}}`,
    400,
  ),
  patch("a merge patch of many nulls", "merge-patch+json", `{"data":{${many((i) => `"${i}":null`)}}}`),
  patch(
    "a strategic patch of objects in objects",
    "strategic-merge-patch+json",
    `{"data":${nested('{"a":', "}").replace("}", "1}")}}`,
    400,
  ),
  patch(
    "a strategic patch that orders many elements",
    "strategic-merge-patch+json",
    `{"metadata":{"$setElementOrder/finalizers":[${many((i) => `"a.b/${i}"`, 1_400_000)}],"finalizers":[${many((i) => `"a.b/${i}"`, 1_400_000)}]}}`,
  ),
  patch(
    "a strategic patch that deletes many elements",
    "strategic-merge-patch+json",
    `{"metadata":{"$deleteFromPrimitiveList/finalizers":[${many((i) => `"a.b/${i}"`, 1_400_000)}],"finalizers":[${many((i) => `"a.b/${i}"`, 1_400_000)}]}}`,
  ),
  patch(
    "a strategic patch of many owners",
    "strategic-merge-patch+json",
    `{"metadata":{"ownerReferences":[${many((i) => `{"apiVersion":"v1","kind":"Pod","name":"a","uid":"${i}"}`)}]}}`,
  ),
  patch(
    "an applied object of many keys",
    "apply-patch+yaml",
    `${head.replace("worst", "kube-root-ca.crt")}},"data":{${many((i) => `"${i.toString(36)}":""`)}}}`,
  ),
  patch(
    "an applied object of many finalizers",
    "apply-patch+yaml",
    `${head.replace("worst", "kube-root-ca.crt")},"finalizers":[${many((i) => `"a.b/${i}"`)}]}}`,
  ),
  patch(
    "an applied object of many owners",
    "apply-patch+yaml",
    `${head.replace("worst", "kube-root-ca.crt")},"ownerReferences":[${many((i) => `{"apiVersion":"v1","kind":"Pod","name":"a","uid":"${i}"}`)}]}}`,
  ),
  patch(
    "an applied object nested deep",
    "apply-patch+yaml",
    `${head}},"data":${nested('{"a":', "}").replace("}", "1}")}}`,
    400,
  ),
  patch(
    "an applied YAML of many keys",
    "apply-patch+yaml",
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kube-root-ca.crt}\ndata:${many((i) => `\n  ${i.toString(36)}: ""`).replaceAll(",", "")}`,
  ),
  patch(
    "an applied object of as many keys as may be",
    "apply-patch+yaml",
    `${head.replace("worst", "kube-root-ca.crt")}},"data":{${many((i) => `"${i.toString(36)}":""`, allowed)}}}`,
  ),
  patch(
    "an applied object of as many owners as may be",
    "apply-patch+yaml",
    `${head.replace("worst", "kube-root-ca.crt")},"ownerReferences":[${many((i) => `{"apiVersion":"v1","kind":"Pod","name":"a","uid":"${i}"}`, allowed)}]}}`,
  ),
  patch(
    "an applied object of as many finalizers as may be",
    "apply-patch+yaml",
    `${head.replace("worst", "kube-root-ca.crt")},"finalizers":[${many((i) => `"a.b/${i.toString(36)}"`, allowed)}]}}`,
  ),
  patch(
    "a strategic patch that orders as many elements as may be",
    "strategic-merge-patch+json",
    `{"metadata":{"$setElementOrder/finalizers":[${many((i) => `"a.b/${i}"`, 250_000)}],"finalizers":[${many((i) => `"a.b/${i}"`, 250_000)}]}}`,
  ),
  patch(
    "a strategic patch of as many owners as may be",
    "strategic-merge-patch+json",
    `{"metadata":{"ownerReferences":[${many((i) => `{"apiVersion":"v1","kind":"Pod","name":"a","uid":"${i}"}`, allowed)}]}}`,
  ),
  patch("a patch of no known kind", "octet-stream", "a", 415),
];

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

const queryInputs: readonly WorstInput[] = [
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

const pathInputs: readonly WorstInput[] = [
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

export const worstInputs: readonly WorstInput[] = [
  ...jsonInputs,
  ...crowdedInputs,
  ...yamlInputs,
  ...protobufInputs,
  ...patchInputs,
  ...queryInputs,
  ...pathInputs,
];
