/** CEL: the language of validation rules. See the package's README. */

export { celRuleCompiler } from "./rule-compiler.ts";
export type { CelAccess, CelAuthorizer, CelDecision, CelResource } from "./library/authorizers.ts";
export type { CelEnvironmentOptions, CelEvaluation, CelExpression, CelResult } from "./expression.ts";
export { CelEnvironment } from "./expression.ts";
