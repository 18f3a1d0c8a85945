import { SetpointError, validateDns1035Label } from "@setpoint/apimachinery";
import { usageError } from "../command.ts";

/** The name of a new operator in the forms that its files need. */
export interface OperatorWords {
  /** `ice-cream`: the operator, its package, its files. */
  readonly name: string;
  /** `IceCream`. */
  readonly kind: string;
  /** `ic`: what people type for it. */
  readonly shortName: string;
}

/** Leaves room in a label for `-operator` and for what controllers append to names of pods. */
const nameLengthMax = 40;

/** What the files of the scaffold call by these names. */
const taken: ReadonlySet<string> = new Set(["ConfigMap"]);

/** Short names of Kubernetes that a short name from this function could be. */
const builtInShortNames: ReadonlySet<string> = new Set([
  ...["cj", "cm", "cs", "csr", "crd", "ds", "ep", "ev", "hpa", "ing", "no", "ns", "pc", "pdb", "po", "pv", "pvc"],
  ...["rc", "rs", "sa", "sc", "sts", "svc"],
]);

/** Throws `ERR_USAGE`. */
export function parseOperatorName(name: string): OperatorWords {
  const cannot = `Cannot create the operator "${name}"`;
  if (name.length > nameLengthMax) {
    throw new SetpointError(
      usageError,
      `${cannot}: its name has ${name.length} characters, expected at most ${nameLengthMax}`,
    );
  }
  if (validateDns1035Label(name).length > 0) {
    const wanted = "lower case letters, digits and '-', a letter first and no '-' last, as in \"ice-cream\"";
    throw new SetpointError(usageError, `${cannot}: its name becomes the name of objects, expected ${wanted}`);
  }
  const words = name.split("-").filter(Boolean);
  const kind = words.map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`).join("");
  if (taken.has(kind)) {
    throw new SetpointError(
      usageError,
      `${cannot}: the kind ${kind} exists in Kubernetes and is used by the scaffold, expected another name`,
    );
  }
  return { name, kind, shortName: shortNameOf(words) };
}

/** The first letters of the words; of a single word the first letter and the consonant after it. */
function shortNameOf(words: readonly string[]): string {
  const [first = ""] = words;
  const initials = words.map((word) => word.slice(0, 1)).join("");
  const consonant = /[bcdfghjklmnpqrstvwxz]/.exec(first.slice(1))?.[0] ?? first.slice(1, 2);
  const short = words.length > 1 ? initials : `${first.slice(0, 1)}${consonant}`;
  return builtInShortNames.has(short) ? first : short;
}
