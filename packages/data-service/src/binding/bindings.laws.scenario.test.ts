/** Every fault at every write, event and step of the stories of bindings. */
import { testModuleLaws } from "setpoint/testing";
import { test } from "vitest";

testModuleLaws(
  test,
  "bindings keep the laws under every single fault",
  new URL("./binding-worlds.fixture.ts", import.meta.url),
  { seconds: 8, report: console.log },
);
