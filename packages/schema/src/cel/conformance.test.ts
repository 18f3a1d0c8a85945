import { tests as suite } from "@bufbuild/cel-spec/testdata/conformance.js";
import { expect, test } from "vitest";
import { type ConformanceCase, NeedsProtobuf, runCase } from "./conformance-case.fixture.ts";

interface Suite {
  readonly name: string;
  readonly suites?: readonly Suite[];
  readonly tests?: readonly { readonly original: ConformanceCase }[];
}

interface NamedCase {
  readonly name: string;
  readonly suite: string;
  readonly test: ConformanceCase;
}

function casesOf(all: Suite, path: readonly string[] = []): readonly NamedCase[] {
  return [
    ...(all.suites ?? []).flatMap((each) => casesOf(each, [...path, each.name])),
    ...(all.tests ?? []).map(({ original }) => ({
      name: [...path, original.name ?? ""].join("/"),
      suite: path[0] ?? "",
      test: original,
    })),
  ];
}

/** Extensions of the specification that no Kubernetes version enables. */
const otherLibraries: ReadonlySet<string> = new Set([
  "math_ext",
  "block_ext",
  "bindings_ext",
  "encoders_ext",
  "proto2_ext",
]);

const protobufWords =
  /TestAllTypes|GlobalEnum|NestedEnum|conformance\.proto|google\.protobuf\.(?!Timestamp|Duration)|(Value|Struct|NullValue|Any)\s*\{/;

/** Why Kubernetes does not accept a case, as far as the case itself says it. */
const reasons: Readonly<Record<string, (found: NamedCase, failure: string) => boolean>> = {
  "messages of protobuf: Kubernetes has JSON": ({ test }) => protobufWords.test(JSON.stringify(test)),
  "a library that Kubernetes does not enable": ({ suite: name }) => otherLibraries.has(name),
  "without a type check: Kubernetes always checks": ({ test }) => test.disableCheck === true,
  "fields in backquotes: Kubernetes does not enable them": ({ test }) => test.expr.includes("`"),
  "names in a package: Kubernetes has none": ({ test: { container = "", typeEnv = [] } }) =>
    container !== "" || typeEnv.some(({ name }) => String(name).includes(".")),
  "literals of mixed types: Kubernetes wants one type": (_, failure) =>
    /^does not compile: .*: expected type '.*' but found/s.test(failure),
  "functions of the test's own": ({ test }) => (test.typeEnv ?? []).some((each) => "function" in each),
};

/** Undefined: passed. */
function failureOf(test: ConformanceCase): string | undefined {
  try {
    return runCase(test);
  } catch (error) {
    if (!(error instanceof NeedsProtobuf)) throw error;
    return error.message;
  }
}

test("every case of the CEL specification passes that Kubernetes does not forbid", () => {
  const cases = casesOf(suite as Suite);
  const counts: Record<string, number> = { passed: 0 };
  const failures: string[] = [];
  for (const found of cases) {
    const failure = failureOf(found.test);
    const reason =
      failure === undefined ? "passed" : Object.keys(reasons).find((each) => reasons[each]?.(found, failure));
    if (reason === undefined) failures.push(`${found.name}: ${found.test.expr}: ${failure ?? ""}`);
    else counts[reason] = (counts[reason] ?? 0) + 1;
  }
  expect(failures).toEqual([]);
  expect(cases.length).toBe(2344);
  expect(counts).toMatchInlineSnapshot(`
    {
      "a library that Kubernetes does not enable": 216,
      "fields in backquotes: Kubernetes does not enable them": 6,
      "functions of the test's own": 5,
      "literals of mixed types: Kubernetes wants one type": 40,
      "messages of protobuf: Kubernetes has JSON": 643,
      "names in a package: Kubernetes has none": 1,
      "passed": 1403,
      "without a type check: Kubernetes always checks": 30,
    }
  `);
});
