/** Patches of each type that are long or meet many values. */
import { allowed, configMaps, head, many, nested, type WorstInput } from "./worst-input.ts";

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

export const patchInputs: readonly WorstInput[] = [
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
