/** JSON that is deep, long or crowded. */
import { allowed, head, json, many, nested, pods, post, type WorstInput } from "./worst-input.ts";

export const jsonInputs: readonly WorstInput[] = [
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

export const crowdedInputs: readonly WorstInput[] = [
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
