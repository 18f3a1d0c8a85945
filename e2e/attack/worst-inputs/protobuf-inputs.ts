/** Protobuf that is deep, repeated or damaged. */
import { bytesMax, pods, post, protobuf, type WorstInput } from "./worst-input.ts";

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

export const protobufInputs: readonly WorstInput[] = [
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
