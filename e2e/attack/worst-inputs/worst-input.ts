/** What the worst inputs are made of. */
import type { RawRequest } from "../target.ts";

export interface WorstInput extends RawRequest {
  readonly name: string;
  /** What it gets; anything below 500 unless it is set. */
  readonly status?: number;
}

export const configMaps = "/api/v1/namespaces/default/configmaps";
export const pods = "/api/v1/namespaces/default/pods";
export const json = { "content-type": "application/json" };
export const yaml = { "content-type": "application/yaml" };
export const protobuf = { "content-type": "application/vnd.kubernetes.protobuf" };
/** A little less than a request may have. */
export const bytesMax = 3 * 1024 * 1024 - 1_000;

/** Bytes of a body whose many values are each looked at together with others. */
export const allowed = 500_000;

export const head = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"worst"';

/** As many parts as fit. */
export function many(part: (i: number) => string, bytes = bytesMax): string {
  const parts: string[] = [];
  for (let size = 0, i = 0; ; i++) {
    const next = part(i);
    size += next.length + 1;
    if (size > bytes) return parts.join(",");
    parts.push(next);
  }
}

export function nested(open: string, close: string, bytes = bytesMax): string {
  const depth = Math.floor(bytes / (open.length + close.length)) - 10;
  return open.repeat(depth) + close.repeat(depth);
}

export const post = (
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
