/** JSON patches (RFC 6902) as the API server takes them. */
import { cloneJson, deepEqual, isJsonObject } from "./json-value.ts";
import { ApiError, failure } from "./status.ts";

/** More operations in one patch are refused, as upstream does, to bound the work of one request. */
export const jsonPatchOperationsMax = 10_000;

/** Bytes, roughly, that the copies of one patch may add, as upstream bounds them. */
const copiedBytesMax = 3 * 1024 * 1024;
/** Elements that insertions and removals of one patch may shift along their lists. */
const shiftedElementsMax = 20_000_000;

/** One operation of RFC 6902; `path` and `from` are JSON pointers (RFC 6901). */
export type JsonPatchOperation =
  | { readonly op: "add" | "replace" | "test"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string }
  | { readonly op: "move" | "copy"; readonly from: string; readonly path: string };

type Container = Record<string, unknown> | unknown[];

function failed(why: string): ApiError {
  // The API returns no more to clients (they read the code); the cause has the reason.
  const message = "the server rejected our request due to an error in our request";
  return new ApiError(failure(422, "Invalid", message, {}), { cause: new Error(why) });
}

function malformed(why: string): ApiError {
  return new ApiError(failure(400, "BadRequest", `error decoding patch: ${why}`));
}

const operations: ReadonlySet<unknown> = new Set(["add", "replace", "test", "remove", "move", "copy"]);

/** Checks the form of a patch. Errors: 400 when it is no list of objects, 413 when it is too long. */
export function parseJsonPatch(patch: unknown): readonly JsonPatchOperation[] {
  if (!Array.isArray(patch))
    throw malformed(`json: cannot unmarshal ${typeof patch} into Go value of type []handlers.jsonPatchOp`);
  if (patch.length > jsonPatchOperationsMax) {
    throw tooLarge(`The allowed maximum operations in a JSON patch is ${jsonPatchOperationsMax}, got ${patch.length}`);
  }
  if (!patch.every(isJsonObject)) throw malformed("an operation of a JSON patch is an object");
  // What an operation needs is checked when it is applied: upstream answers 422 then.
  return patch as readonly unknown[] as readonly JsonPatchOperation[];
}

/**
 * The document with the patch applied; neither argument is changed.
 *
 * Errors: `ApiError` 400 for a malformed patch, 413 for too many operations or too much work, 422 when an
 * operation cannot be done or a `test` fails.
 */
export function jsonPatch(document: unknown, patch: unknown): unknown {
  const root: Root = { value: cloneJson(document), copiedBytes: 0, shiftedElements: 0 };
  for (const operation of parseJsonPatch(patch)) applyOperation(root, operation);
  return root.value;
}

/** The document while it is patched, and what that has cost. */
interface Root {
  value: unknown;
  copiedBytes: number;
  shiftedElements: number;
}

function applyOperation(root: Root, operation: JsonPatchOperation): void {
  if (!operations.has(operation.op)) throw failed(`unexpected kind: ${operation.op}`);
  if (typeof operation.path !== "string") throw failed("operation without path");
  if (operation.op === "remove") return removeAt(root, operation.path);
  if (isTransfer(operation)) return transfer(root, operation);
  if (operation.op === "add") return addAt(root, operation.path, cloneJson(valueOf(operation)));
  if (operation.op === "replace") return replaceAt(root, operation.path, cloneJson(valueOf(operation)));
  const current = lookup(root, operation.path);
  // A test for null also holds for an absent path, as in upstream's library.
  if (!deepEqual(current ?? null, operation.value ?? null)) throw failed(`testing path ${operation.path} failed`);
}

/** The value to write; an operation without one writes null. */
function valueOf(operation: { readonly value: unknown }): unknown {
  return operation.value ?? null;
}

type Transfer = Extract<JsonPatchOperation, { readonly from: string }>;

function isTransfer(operation: JsonPatchOperation): operation is Transfer {
  return operation.op === "move" || operation.op === "copy";
}

function transfer(root: Root, { op, from, path }: Transfer): void {
  if (typeof from !== "string") throw failed(`${op} operation without from`);
  const value = lookup(root, from);
  if (value === undefined) throw failed(`${op} operation does not apply: missing from path ${from}`);
  if (op === "move" && path.startsWith(`${from}/`)) throw failed("cannot move a value into itself");
  if (op === "move") removeAt(root, from);
  if (op === "copy") countCopy(root, value);
  addAt(root, path, op === "copy" ? cloneJson(value) : value);
}

/** A copy of what has copies in it doubles it, so that a short patch could fill any memory. */
function countCopy(root: Root, value: unknown): void {
  root.copiedBytes += sizeUpTo(value, copiedBytesMax);
  if (root.copiedBytes <= copiedBytesMax) return;
  const size = `the accumulated size increase of copy is ${root.copiedBytes}, exceeding the limit ${copiedBytesMax}`;
  throw tooLarge(`Unable to complete the copy, ${size}`);
}

/** About the bytes of a value as JSON; beyond the limit it stops counting. */
function sizeUpTo(value: unknown, bytesMax: number): number {
  const open: unknown[] = [value];
  let bytes = 0;
  while (open.length > 0 && bytes <= bytesMax) {
    const next = open.pop();
    bytes += typeof next === "string" ? next.length + 3 : 3;
    if (typeof next !== "object" || next === null) continue;
    for (const [key, each] of Object.entries(next)) {
      bytes += key.length + 3;
      open.push(each);
    }
  }
  return bytes;
}

function countShift(root: Root, elements: number): void {
  root.shiftedElements += elements;
  if (root.shiftedElements > shiftedElementsMax)
    throw tooLarge(`the patch shifts more than ${shiftedElementsMax} elements of lists`);
}

function tooLarge(why: string): ApiError {
  return new ApiError(failure(413, "RequestEntityTooLarge", `Request entity too large: ${why}`));
}

/** The tokens of a JSON pointer. */
function parsePointer(path: string): readonly string[] {
  if (path === "") return [];
  if (!path.startsWith("/")) throw failed(`path ${JSON.stringify(path)} does not start with a slash`);
  return path
    .slice(1)
    .split("/")
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function childOf(container: unknown, token: string): unknown {
  if (Array.isArray(container)) return container[indexOf(token, container.length)];
  return isJsonObject(container) && Object.hasOwn(container, token) ? container[token] : undefined;
}

/** An index of a list; negative ones count from the end, as in upstream's library. NaN when it is none. */
function indexOf(token: string, length: number): number {
  if (!/^-?\d+$/.test(token)) return Number.NaN;
  const index = Number(token);
  return index < 0 ? index + length : index;
}

function lookup(root: Root, path: string): unknown {
  return parsePointer(path).reduce(childOf, root.value);
}

interface Place {
  readonly parent: Container;
  readonly token: string;
}

function placeOf(root: Root, path: string): Place {
  const tokens = parsePointer(path);
  const parent = tokens.slice(0, -1).reduce(childOf, root.value);
  const isContainer = Array.isArray(parent) || isJsonObject(parent);
  if (!isContainer) throw failed(`doc is missing path: ${path}`);
  // The document is our own mutable copy.
  return { parent: parent as Container, token: tokens.at(-1) ?? "" };
}

function setKey(object: Record<string, unknown>, key: string, value: unknown): void {
  // Plain assignment of `__proto__` would change the prototype instead of adding a key.
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

function addAt(root: Root, path: string, value: unknown): void {
  if (path === "") {
    root.value = value;
    return;
  }
  const { parent, token } = placeOf(root, path);
  if (!Array.isArray(parent)) return setKey(parent, token, value);
  const index = token === "-" ? parent.length : indexOf(token, parent.length + 1);
  if (!(index >= 0 && index <= parent.length)) throw failed(`unable to access invalid index: ${token}`);
  countShift(root, parent.length - index);
  parent.splice(index, 0, value);
}

function replaceAt(root: Root, path: string, value: unknown): void {
  if (path === "") {
    root.value = value;
    return;
  }
  const { parent, token } = placeOf(root, path);
  // RFC 6902 requires that the key exists; upstream's library does not check it, and clients rely on that.
  if (!Array.isArray(parent)) return setKey(parent, token, value);
  if (childOf(parent, token) === undefined) throw failed(`replace operation does not apply: missing path ${path}`);
  parent[indexOf(token, parent.length)] = value;
}

function removeAt(root: Root, path: string): void {
  const { parent, token } = placeOf(root, path);
  if (childOf(parent, token) === undefined) throw failed(`unable to remove nonexistent key: ${path}`);
  if (Array.isArray(parent)) {
    const index = indexOf(token, parent.length);
    countShift(root, parent.length - index);
    parent.splice(index, 1);
  } else delete parent[token];
}
