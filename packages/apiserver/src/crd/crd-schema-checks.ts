/** The checks of a CRD's schema that need more than its keywords. */
import type { SchemaCheck } from "./crd-validation.ts";

/** Run in this order, each only when those before it found nothing. */
export const schemaChecks: readonly SchemaCheck[] = [];
