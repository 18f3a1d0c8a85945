import { expect, test } from "vitest";
import { FirstList } from "./first-list.ts";
import { box } from "../scripted-server.fixture.ts";

/** The calls that a target gets, as text. */
function begin(): { readonly list: FirstList; readonly told: readonly string[] } {
  const told: string[] = [];
  const list = new FirstList({
    replace: () => void told.push("replace"),
    set: ({ metadata }) => void told.push(`set ${metadata.name}`),
    remove: ({ metadata }) => void told.push(`remove ${metadata.name}`),
    progress: (revision) => void told.push(`progress ${revision}`),
    restored: () => void told.push("restored"),
    stage: () => list,
    setRaw: (_, scan) => void told.push(`setRaw ${scan.key()}`),
    removeRaw: (scan) => void told.push(`removeRaw ${scan.key()}`),
  });
  return { list, told };
}

const bytes = (object: object): Uint8Array => new TextEncoder().encode(JSON.stringify(object));
/** A form that no server sends, which is JSON all the same: a key with an escape. */
const escaped = (object: object): Uint8Array =>
  new TextEncoder().encode(JSON.stringify(object).replace(`"metadata"`, String.raw`"\u006detadata"`));

test("objects are passed on as they arrive, also in a form that no server sends", () => {
  const { list, told } = begin();
  list.add(bytes(box("a", 1)));
  expect(told).toEqual(["setRaw default/a"]);
  list.add(escaped(box("b", 2)));
  list.remove(bytes(box("a", 3)));
  list.remove(escaped(box("b", 4)));
  expect(told.slice(1)).toEqual(["set b", "removeRaw default/a", "remove b"]);
});

test("neither the end of the list nor its failure changes what was passed on", async () => {
  const { list, told } = begin();
  list.add(bytes(box("a", 1)));
  await list.commit();
  list.discard();
  expect(told).toEqual(["setRaw default/a"]);
});
