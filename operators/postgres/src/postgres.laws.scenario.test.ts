/** Every fault at every write, event and step of the operator's stories, as far as the time goes. */
import { testModuleLaws } from "setpoint/testing";
import { test } from "vitest";

testModuleLaws(
  test,
  "the operator keeps the laws under single faults",
  new URL("./testing/postgres-worlds.ts", import.meta.url),
  { seconds: 20, report: console.log },
);
