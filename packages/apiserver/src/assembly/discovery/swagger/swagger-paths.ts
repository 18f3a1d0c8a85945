/**
 * Operations as OpenAPI v2 writes them: bodies are parameters, media types stand beside them, and parameters
 * that many operations share are kept once.
 */
import type { JsonSchema } from "../openapi-custom.ts";
import { contentHash } from "../etag.ts";
import { convertReference } from "./swagger-schemas.ts";

/** kubectl up to 1.28 looks for these in the operation itself and does not follow references. */
const inlined: ReadonlySet<string> = new Set(["dryRun", "fieldValidation"]);
const methods: ReadonlySet<string> = new Set(["get", "put", "post", "delete", "patch"]);

/** Converts paths of OpenAPI v3; shared parameters gather in `parameters`. */
export class PathConverter {
  readonly parameters: Record<string, JsonSchema> = {};

  path(item: JsonSchema): JsonSchema {
    const entries = Object.entries(item).map(([key, value]): [string, unknown] => {
      if (key === "parameters") return [key, this.#parameters(value)];
      // The value of a method is an operation by the definition of OpenAPI.
      return [key, methods.has(key) ? this.#operation(value as Operation) : value];
    });
    return Object.fromEntries(entries);
  }

  #operation({ requestBody, responses, parameters, ...rest }: Operation): JsonSchema {
    const body = requestBody === undefined ? [] : [this.#body(requestBody)];
    const all = [...body, ...this.#parameters(parameters)];
    return {
      consumes: Object.keys(requestBody?.content ?? { "*/*": {} }),
      produces: Object.keys(responses["200"]?.content ?? { "application/json": {} }),
      schemes: ["https"],
      ...rest,
      ...(all.length === 0 ? {} : { parameters: all }),
      responses: Object.fromEntries(Object.entries(responses).map(([code, answer]) => [code, convertAnswer(answer)])),
    };
  }

  #parameters(parameters: unknown): readonly JsonSchema[] {
    if (!Array.isArray(parameters)) return [];
    return parameters.map((each: Parameter) => {
      const { schema, ...rest } = each;
      const parameter = { ...schema, ...rest };
      return inlined.has(each.name) ? parameter : this.#shared(parameter);
    });
  }

  #body({ content, required }: Body): JsonSchema {
    const body = { name: "body", in: "body", ...(required === true ? { required } : {}), schema: schemaOf(content) };
    const shared = JSON.stringify(body.schema).includes("apimachinery.pkg.apis.meta.v1.");
    return shared ? this.#shared(body) : body;
  }

  #shared(parameter: JsonSchema & { readonly name: string }): JsonSchema {
    const key = `${parameter.name}-${contentHash(JSON.stringify(parameter)).slice(0, 8)}`;
    this.parameters[key] = parameter;
    return { $ref: `#/parameters/${key}` };
  }
}

type Content = Readonly<Record<string, { readonly schema?: JsonSchema }>>;

interface Body {
  readonly content: Content;
  readonly required?: boolean;
}

interface Answer {
  readonly description: string;
  readonly content?: Content;
}

interface Parameter {
  readonly name: string;
  readonly schema: JsonSchema;
}

interface Operation {
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, Answer>>;
  readonly parameters?: unknown;
  readonly [key: string]: unknown;
}

function convertAnswer({ description, content }: Answer): JsonSchema {
  return content === undefined ? { description } : { description, schema: schemaOf(content) };
}

/** All media types of a body have one schema: a reference, or a string. */
function schemaOf(content: Content): JsonSchema {
  const schema = Object.values(content)[0]?.schema ?? {};
  return typeof schema["$ref"] === "string" ? { $ref: convertReference(schema["$ref"]) } : schema;
}
