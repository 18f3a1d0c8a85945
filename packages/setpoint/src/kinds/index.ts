/** The built-in kinds of Kubernetes, each a type and a constructor: `ConfigMap({ name: "a", data: {} })`. */
// The generator of `@setpoint/api` writes the list, so it is not repeated here.
export * from "@setpoint/api";
