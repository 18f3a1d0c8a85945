/** Chaos with a conscience; see the README beside this package. */
export { chaosNames } from "./kind/chaos-names.ts";
export { HatefulSet } from "./kind/hateful-set.ts";
export { hatefulSetOperator } from "./hateful-set-operator.ts";
