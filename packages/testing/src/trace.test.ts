import { expect, test } from "vitest";
import { Trace } from "./trace.ts";

function traceOf(bodies: readonly unknown[], askedAfter: readonly number[] = []): Trace {
  const trace = new Trace();
  for (const [i, body] of bodies.entries()) {
    trace.add({ atMs: i, who: "operator", kind: "write", what: "POST pods", outcome: "201" }, body);
    if (askedAfter.includes(i)) trace.hash();
  }
  return trace;
}

const bodies = Array.from({ length: 2_500 }, (_, i) => (i % 3 === 0 ? undefined : { spec: { replicas: i } }));

test("the hash does not depend on when it is asked for", () => {
  expect(traceOf(bodies, [0, 7, 999, 1_000, 1_001, 2_499]).hash()).toBe(traceOf(bodies).hash());
});

test("one body that differs makes another hash, wherever it is", () => {
  const hash = traceOf(bodies).hash();
  for (const at of [0, 1, 1_000, 1_001, 2_499])
    expect(traceOf(bodies.with(at, { spec: { replicas: -1 } })).hash(), `body ${at}`).not.toBe(hash);
});
