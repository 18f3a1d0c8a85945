/** CEL: the language of validation rules. See the package's README. */

export { celRuleCompiler } from "./rule-compiler.ts";
