import type { StructuralSchema } from "@setpoint/schema";

/** A schema of OpenAPI v3 as kube-apiserver publishes it: references stand alone or in an `allOf` of one. */
export interface OpenApiSchema extends Omit<
  StructuralSchema,
  "properties" | "items" | "additionalProperties" | "allOf"
> {
  readonly $ref?: string;
  readonly allOf?: readonly OpenApiSchema[];
  readonly properties?: Readonly<Record<string, OpenApiSchema>>;
  readonly items?: OpenApiSchema;
  readonly additionalProperties?: OpenApiSchema | boolean;
  readonly "x-kubernetes-group-version-kind"?: readonly { group: string; version: string; kind: string }[];
}
