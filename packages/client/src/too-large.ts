/** Explains the refusal of an object that is too large: which field it is, and what the limit is. */
import { encodeJson, ApiError, isJsonObject, type ApiRequest } from "@setpoint/apimachinery";

/** The default of etcd and of every server that behaves like it. */
const objectLimitText = "about 1.5 MiB";
/** A field that has a smaller share of its object does not explain the size. */
const largestShareMin = 0.5;
const levelsMax = 8;
const kib = 1_024;

/** The server's answer with a message that names the largest field. Code and reason stay as they are. */
export function tooLargeError({ method, path, body }: ApiRequest, answered: ApiError): ApiError {
  const { field, bytes } = largestField(body);
  const what = field === "" ? `the request has ${sizeText(bytes)}` : `"${field}" has ${sizeText(bytes)}`;
  const message = `Cannot ${method} ${path}: the API server stores at most ${objectLimitText} in an object, and ${what}; keep less there, or keep it elsewhere (${answered.message})`;
  return new ApiError({ ...answered.status, message }, { cause: answered });
}

interface SizedField {
  /** Empty for the whole body. */
  readonly field: string;
  readonly bytes: number;
}

/** The innermost field that has most of the body. */
function largestField(body: unknown): SizedField {
  let found: SizedField = { field: "", bytes: sizeOf(body) };
  let value = body;
  for (let level = 0; level < levelsMax && isJsonObject(value); level++) {
    const [largest] = Object.entries(value)
      .map(([key, child]) => ({ key, child, bytes: sizeOf(child) }))
      .toSorted((a, b) => b.bytes - a.bytes);
    if (largest === undefined || largest.bytes < found.bytes * largestShareMin) break;
    found = { field: found.field === "" ? largest.key : `${found.field}.${largest.key}`, bytes: largest.bytes };
    value = largest.child;
  }
  return found;
}

function sizeOf(value: unknown): number {
  return encodeJson(value).length;
}

function sizeText(bytes: number): string {
  return bytes < kib * kib ? `${Math.ceil(bytes / kib)} KiB` : `${(bytes / kib / kib).toFixed(1)} MiB`;
}
