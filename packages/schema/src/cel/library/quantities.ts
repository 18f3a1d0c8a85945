/** Resource quantities: `quantity('1Gi').isGreaterThan(quantity(self.memory))`. */
import { parseQuantity, messageOf } from "@setpoint/apimachinery";
import { readsFirst } from "../cost.ts";
import { member, plain, type Library } from "../overload.ts";
import { CelFault, CelOpaque, type Value } from "../value.ts";

const nano = 1_000_000_000n;
const kind = "kubernetes.Quantity";

class CelQuantity extends CelOpaque {
  readonly typeName = kind;
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    super();
    this.nanos = nanos;
  }

  equals(other: CelOpaque): boolean {
    return other instanceof CelQuantity && other.nanos === this.nanos;
  }
}

function parse(text: string): CelQuantity | CelFault {
  try {
    return new CelQuantity(parseQuantity(text).nanos);
  } catch (error) {
    return new CelFault(messageOf(error));
  }
}

function nanosOf(value: Value): bigint {
  return value instanceof CelQuantity ? value.nanos : 0n;
}

function orderOf(a: Value, b: Value): bigint {
  const difference = nanosOf(a) - nanosOf(b);
  return difference > 0n ? 1n : difference < 0n ? -1n : 0n;
}

function isInteger(value: Value): boolean {
  const nanos = nanosOf(value);
  return nanos % nano === 0n && BigInt.asIntN(64, nanos / nano) === nanos / nano;
}

export const quantities: Library = {
  quantity: [plain(["string"], kind, parse, readsFirst)],
  isQuantity: [plain(["string"], "bool", (text) => parse(text) instanceof CelQuantity, readsFirst)],
  // Upstream declares this one as a function of its own, unlike the rest.
  sign: [plain([kind], "int", (value) => orderOf(value, new CelQuantity(0n)))],
  isGreaterThan: [member([kind, kind], "bool", (a, b) => orderOf(a, b) === 1n)],
  isLessThan: [member([kind, kind], "bool", (a, b) => orderOf(a, b) === -1n)],
  compareTo: [member([kind, kind], "int", orderOf)],
  asApproximateFloat: [member([kind], "double", (value) => Number(nanosOf(value)) / Number(nano))],
  asInteger: [
    member([kind], "int", (value) =>
      isInteger(value) ? nanosOf(value) / nano : new CelFault("cannot convert value to integer"),
    ),
  ],
  isInteger: [member([kind], "bool", isInteger)],
  add: [
    member([kind, kind], kind, (a, b) => new CelQuantity(nanosOf(a) + nanosOf(b))),
    member([kind, "int"], kind, (a, b) => new CelQuantity(nanosOf(a) + b * nano)),
  ],
  sub: [
    member([kind, kind], kind, (a, b) => new CelQuantity(nanosOf(a) - nanosOf(b))),
    member([kind, "int"], kind, (a, b) => new CelQuantity(nanosOf(a) - b * nano)),
  ],
};
