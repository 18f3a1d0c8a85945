/** What a JSON value can be made smaller to, one step at a time: the way to the smallest counterexample. */

export function* smallerValues(value: unknown): Generator<unknown> {
  if (typeof value === "string" && value !== "") yield "";
  else if (typeof value === "number" && value !== 0) yield* smallerNumbers(value);
  else if (value === true) yield false;
  else if (Array.isArray(value)) yield* smallerLists(value);
  else if (typeof value === "object" && value !== null) yield* smallerObjects(value as Record<string, unknown>);
}

function smallerNumbers(value: number): readonly number[] {
  const candidates = [0, Math.trunc(value / 2), Math.trunc(value) - Math.sign(value)];
  return candidates.filter((each) => Math.abs(each) < Math.abs(value));
}

function* smallerLists(list: readonly unknown[]): Generator<unknown> {
  for (const index of list.keys()) yield list.toSpliced(index, 1);
  for (const [index, item] of list.entries()) {
    for (const smaller of smallerValues(item)) yield list.with(index, smaller);
  }
}

function* smallerObjects(object: Readonly<Record<string, unknown>>): Generator<unknown> {
  for (const key of Object.keys(object)) {
    const { [key]: _left, ...rest } = object;
    yield rest;
  }
  for (const [key, value] of Object.entries(object)) {
    for (const smaller of smallerValues(value)) yield { ...object, [key]: smaller };
  }
}
