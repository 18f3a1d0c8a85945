/** The controllers of nodes keep the laws that we hold operators to. */
import { testModuleLaws } from "@setpoint/testing";
import { test } from "vitest";

testModuleLaws(
  test,
  "the controllers of nodes keep the laws under every single fault",
  new URL("./node-worlds.fixture.ts", import.meta.url),
  { seconds: 10, report: console.log },
);
