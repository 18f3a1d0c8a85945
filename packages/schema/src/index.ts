/** Declare a kind once; see the package's README. */
export type { StructuralSchema, ValidationRule } from "./structural-schema.ts";
