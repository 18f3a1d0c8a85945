import type { Mutant } from "./mutant.ts";
import { sievePatterns } from "./sieve-patterns.ts";
import { templates } from "./templates.ts";

/** The proof that the explorer finds what it claims. */
export const allMutants: readonly Mutant[] = [...templates, ...sievePatterns];
