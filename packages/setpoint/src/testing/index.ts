/**
 * The simulated world for the tests of operators. Its package stands above this one and imports it, so this
 * folder is a TypeScript project of its own (`tsconfig.testing.json`); see decisions/0022.
 */
// `@setpoint/testing` has the list of names.
export * from "@setpoint/testing";

/** Keeps the spans of a test. */
export { RecordingTracer } from "@setpoint/host/simulated";
