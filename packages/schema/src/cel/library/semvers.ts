/** Semantic versions: `semver(self.version).isLessThan(semver('2.0.0'))`. */
import { readsFirst } from "../cost.ts";
import { member, plain, type Library } from "../overload.ts";
import { CelFault, CelOpaque, type Value } from "../value.ts";

const kind = "kubernetes.Semver";

interface Version {
  readonly numbers: readonly [bigint, bigint, bigint];
  readonly pre: readonly string[];
}

class CelSemver extends CelOpaque {
  readonly typeName = kind;
  readonly version: Version;

  constructor(version: Version) {
    super();
    this.version = version;
  }

  equals(other: CelOpaque): boolean {
    return other instanceof CelSemver && compareVersions(this.version, other.version) === 0;
  }
}

const form =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;

function parse(text: string): CelSemver | CelFault {
  const match = form.exec(text);
  if (match !== null) {
    const [, major = "0", minor = "0", patch = "0", pre] = match as readonly (string | undefined)[];
    const identifiers = pre === undefined ? [] : pre.split(".");
    if (!identifiers.some((part) => /^0\d+$/.test(part)))
      return new CelSemver({ numbers: [BigInt(major), BigInt(minor), BigInt(patch)], pre: identifiers });
  }
  if (text === "") return new CelFault("Version string empty");
  if (text.split(".").length < 3) return new CelFault("No Major.Minor.Patch elements found");
  const wrong = text.split(".", 3).find((part) => !/^\d+$/.test(part)) ?? text;
  return new CelFault(`Invalid character(s) found in version number ${JSON.stringify(wrong)}`);
}

/** `v1.2` → `1.2.0`, as far as upstream is lenient. */
function normalized(text: string): string {
  const [major = "", minor, ...rest] = text.replace(/^v/, "").split(".");
  const patch = rest.length === 0 ? undefined : rest.join(".");
  const trimmed = [major, minor, patch].map((part) => part?.replace(/^0+(?=\d)/, ""));
  if (trimmed[2] !== undefined) return trimmed.join(".");
  const last = trimmed[1] ?? trimmed[0] ?? "";
  if (/[-+]/.test(last)) return text;
  return [trimmed[0], trimmed[1] ?? "0", "0"].join(".");
}

function compareVersions(a: Version, b: Version): number {
  for (const index of [0, 1, 2] as const) {
    if (a.numbers[index] !== b.numbers[index]) return a.numbers[index] < b.numbers[index] ? -1 : 1;
  }
  if (a.pre.length === 0 || b.pre.length === 0) return Math.sign(b.pre.length) - Math.sign(a.pre.length);
  for (const [index, part] of a.pre.entries()) {
    const other = b.pre[index];
    if (other === undefined) return 1;
    const order = comparePre(part, other);
    if (order !== 0) return order;
  }
  return a.pre.length < b.pre.length ? -1 : 0;
}

function comparePre(a: string, b: string): number {
  const [left, right] = [a, b].map((part) => (/^\d+$/.test(part) ? BigInt(part) : undefined));
  if (left !== undefined && right !== undefined) return left < right ? -1 : left > right ? 1 : 0;
  if (left !== undefined || right !== undefined) return left === undefined ? 1 : -1;
  return a < b ? -1 : a > b ? 1 : 0;
}

function order(a: Value, b: Value): number {
  return a instanceof CelSemver && b instanceof CelSemver ? compareVersions(a.version, b.version) : 0;
}

function numberAt(value: Value, index: 0 | 1 | 2): bigint {
  return value instanceof CelSemver ? value.version.numbers[index] : 0n;
}

export const semvers: Library = {
  semver: [
    plain(["string"], kind, parse, readsFirst),
    plain(["string", "bool"], kind, (text, isLenient) => parse(isLenient ? normalized(text) : text), readsFirst),
  ],
  isSemver: [
    plain(["string"], "bool", (text) => parse(text) instanceof CelSemver, readsFirst),
    plain(
      ["string", "bool"],
      "bool",
      (text, isLenient) => parse(isLenient ? normalized(text) : text) instanceof CelSemver,
      readsFirst,
    ),
  ],
  isGreaterThan: [member([kind, kind], "bool", (a, b) => order(a, b) > 0)],
  isLessThan: [member([kind, kind], "bool", (a, b) => order(a, b) < 0)],
  compareTo: [member([kind, kind], "int", (a, b) => BigInt(order(a, b)))],
  major: [member([kind], "int", (value) => numberAt(value, 0))],
  minor: [member([kind], "int", (value) => numberAt(value, 1))],
  patch: [member([kind], "int", (value) => numberAt(value, 2))],
};
