/** Keys that a JSON text has twice in one object. `JSON.parse` keeps the last of them and says nothing. */

const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const comma = 0x2c;
const openBracket = 0x5b;
const openBrace = 0x7b;
const closeBracket = 0x5d;
const closeBrace = 0x7d;
/** Upstream reports no more than this. */
const reportedMax = 100;

/**
 * Upstream's messages, `duplicate field "spec.replicas"`, in the order of the text, each once. `bytes` must
 * be the JSON text of `value`.
 */
export function duplicateFields(bytes: Uint8Array, value: unknown): readonly string[] {
  return findDuplicateFields(bytes, value).duplicates;
}

/** Keys that stood twice in a text. */
export interface RepeatedKeys {
  /** Upstream's messages. */
  readonly duplicates: readonly string[];
  /** When there are some: the paths of all keys up to the last of them, in the order of the text. */
  readonly keys: readonly string[];
}

const noneRepeated: RepeatedKeys = { duplicates: [], keys: [] };

/** As `duplicateFields`, with the order of the text. */
export function findDuplicateFields(bytes: Uint8Array, value: unknown): RepeatedKeys {
  const hasDuplicates = membersInText(bytes) > membersOf(value);
  return hasDuplicates ? findDuplicates(bytes) : noneRepeated;
}

function membersInText(bytes: Uint8Array): number {
  let members = 0;
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] === quote) at = stringEnd(bytes, at);
    else if (bytes[at] === colon) members++;
  }
  return members;
}

function membersOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const inner: readonly unknown[] = Object.values(value);
  return inner.reduce((sum: number, each) => sum + membersOf(each), Array.isArray(value) ? 0 : inner.length);
}

/** Where the string that begins here ends. */
function stringEnd(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return at;
}

/** An object or a list of the text that is still open. */
interface Open {
  readonly path: string;
  readonly isList: boolean;
  readonly keys: Set<string>;
  /** The present key or index. */
  key: string;
  index: number;
  /** Whether the next string is a key. */
  isAtKey: boolean;
}

function findDuplicates(bytes: Uint8Array): RepeatedKeys {
  const found = new Set<string>();
  const keys: string[] = [];
  const open: Open[] = [];
  for (let at = 0; at < bytes.length && found.size < reportedMax; at++) {
    const byte = bytes[at];
    const parent = open.at(-1);
    if (byte === quote) {
      const end = stringEnd(bytes, at);
      if (parent?.isAtKey === true) {
        const isRepeated = takeKey(parent, keyIn(bytes.subarray(at, end + 1)));
        keys.push(pathOf(parent));
        if (isRepeated) found.add(duplicateField(pathOf(parent)));
      }
      at = end;
    } else if (byte === openBrace || byte === openBracket) {
      const isList = byte === openBracket;
      open.push({ path: pathOf(parent), isList, keys: new Set(), key: "", index: 0, isAtKey: !isList });
    } else if (byte === closeBrace || byte === closeBracket) open.pop();
    else if (byte === comma && parent !== undefined) {
      parent.index++;
      parent.isAtKey = !parent.isList;
    }
  }
  return { duplicates: [...found], keys };
}

/** Upstream's message about a key that stands twice. */
export function duplicateField(path: string): string {
  return `duplicate field ${JSON.stringify(path)}`;
}

function keyIn(text: Uint8Array): string {
  return String(JSON.parse(Buffer.from(text).toString("utf8")));
}

/** Whether the object has the key already. */
function takeKey(parent: Open, key: string): boolean {
  parent.key = key;
  parent.isAtKey = false;
  const isRepeated = parent.keys.has(key);
  parent.keys.add(key);
  return isRepeated;
}

function pathOf(parent: Open | undefined): string {
  if (parent === undefined) return "";
  const { path, isList, index, key } = parent;
  if (isList) return `${path}[${index}]`;
  return path === "" ? key : `${path}.${key}`;
}
