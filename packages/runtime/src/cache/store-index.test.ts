import type { KubeObject } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";
import { expect, test } from "vitest";
import { StoreIndex } from "./store-index.ts";

const box = (...colors: readonly string[]): Stored<KubeObject> => ({
  ...{ apiVersion: "v1", kind: "Box" },
  metadata: { name: "box", uid: "box", resourceVersion: "1", creationTimestamp: "", labels: { colors: colors.join() } },
});
const index = (): StoreIndex =>
  new StoreIndex(({ metadata }) => (metadata.labels?.["colors"] ?? "").split(",").filter((each) => each !== ""));

test("an object is found by each of its values, and other objects with it", () => {
  const colors = index();
  colors.add("a", box("red", "blue"));
  for (const key of ["b", "c", "c"]) colors.add(key, box("red"));
  expect(["red", "blue", "green"].map((each) => [...colors.find(each)])).toEqual([["a", "b", "c"], ["a"], []]);
  colors.add("a", box("blue"));
  expect([...colors.find("blue")]).toEqual(["a"]);
});

test("an object that has gone is not found any more, and one that was not there takes nobody along", () => {
  const colors = index();
  for (const key of ["a", "b"]) colors.add(key, box("red"));
  colors.add("c", box("blue"));
  colors.remove("a", box("red"));
  colors.remove("a", box("blue", "green"));
  expect(["red", "blue"].map((each) => [...colors.find(each)])).toEqual([["b"], ["c"]]);
  colors.remove("b", box("red"));
  colors.remove("c", box("blue"));
  expect(["red", "blue"].map((each) => [...colors.find(each)])).toEqual([[], []]);
});
