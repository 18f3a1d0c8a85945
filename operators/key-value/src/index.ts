/** A test engine; see the README beside this package. */
export { keyValueAgent } from "./key-value-agent.ts";
export { keyValueEngine } from "./key-value-engine.ts";
export { keyValueOperator } from "./key-value-operator.ts";
export { KeyValueStore } from "./key-value-store.ts";
