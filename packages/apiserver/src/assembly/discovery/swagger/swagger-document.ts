/**
 * OpenAPI v2: one document of all groups, as JSON and as protobuf. It is large, so it is made of fragments, a
 * few resources each, that are kept until their resources change. Each is made in a turn of its own.
 */
import { encodeJson } from "@setpoint/apimachinery";
import { type Clock, nextTurn } from "@setpoint/host";
import type { ResourceDefinition } from "../../../registry/resource-definition.ts";
import { contentHash } from "../etag.ts";
import { ComponentCollector } from "../openapi-components.ts";
import type { JsonSchema } from "../openapi-custom.ts";
import type { OpenApiDocuments } from "../openapi-documents.ts";
import { OperationWriter } from "../openapi-operations.ts";
import { encodeMessage, encodeNamed, type MessageName } from "./swagger-message.ts";
import { PathConverter } from "./swagger-paths.ts";
import { builtinDefinition, builtinDefinitionNames, customDefinitions } from "./swagger-schemas.ts";
import { lengthHeader, WireWriter } from "./wire-writer.ts";

/** The two forms of the document. */
export type SwaggerForm = "json" | "protobuf";

/** What a part of the server adds to the document. */
interface Fragment {
  readonly paths: Uint8Array;
  readonly definitions: Uint8Array;
  readonly parameters: Readonly<Record<string, JsonSchema>>;
}

/** Built-in definitions are written this many a turn. */
const definitionsOfTurn = 64;
/** Resources with their paths are written this many a turn. */
const resourcesOfTurn = 4;
const builtinKey = "definitions";

type Section = Readonly<Record<string, JsonSchema>>;

/** How a section (paths, definitions, parameters) is written in a form, so that parts can be joined. */
type SectionWriter = (section: Section, type: MessageName, number: number) => Uint8Array;

const writers: Readonly<Record<SwaggerForm, SectionWriter>> = {
  json: (section) => Buffer.from(encodeJson(section).slice(1, -1)),
  protobuf: (section, type, number) => encodeNamed(number, type, section),
};

export class SwaggerDocument {
  readonly #documents: OpenApiDocuments;
  readonly #clock: Clock;
  readonly #version: string;
  #fragments = new Map<string, Fragment>();

  /** `version` is what the document says about the server (`1.36`). */
  constructor(documents: OpenApiDocuments, clock: Clock, version: string) {
    this.#documents = documents;
    this.#clock = clock;
    this.#version = version;
  }

  /** The hash of the document, without making it. */
  hash(form: SwaggerForm): string {
    const hashes = [...this.#documents.entries().values()].map((entry) => entry.hash);
    return contentHash([form, this.#version, ...hashes.toSorted()].join("\n"));
  }

  /** The bytes of the document as it is now. */
  async write(form: SwaggerForm): Promise<readonly Uint8Array[]> {
    const fragments = await this.#all(form);
    const info = { title: "Kubernetes", version: this.#version };
    const parameters = writers[form](Object.assign({}, ...fragments.map((each) => each.parameters)), "parameter", 1);
    const paths = fragments.map((each) => each.paths);
    const definitions = fragments.map((each) => each.definitions);
    return form === "json"
      ? joinJson(info, { paths, definitions, parameters: [parameters] })
      : joinProtobuf(info, { paths, definitions, parameters: [parameters] });
  }

  async #all(form: SwaggerForm): Promise<readonly Fragment[]> {
    const fragments: Fragment[] = [];
    const wanted = new Set<string>();
    const take = async (key: string, make: () => Fragment): Promise<void> => {
      wanted.add(key);
      fragments.push(await this.#fragment(key, make));
    };
    const names = builtinDefinitionNames();
    for (let from = 0; from < names.length; from += definitionsOfTurn)
      await take(`${form} ${builtinKey} ${from}`, () =>
        builtinFragment(names.slice(from, from + definitionsOfTurn), form),
      );
    for (const { hash, definitions } of this.#documents.entries().values())
      for (let from = 0; from < definitions.length; from += resourcesOfTurn)
        await take(`${form} ${hash} ${from}`, () => fragmentOf(definitions.slice(from, from + resourcesOfTurn), form));
    for (const key of this.#fragments.keys()) if (key.startsWith(form) && !wanted.has(key)) this.#fragments.delete(key);
    return fragments;
  }

  async #fragment(key: string, make: () => Fragment): Promise<Fragment> {
    const known = this.#fragments.get(key);
    if (known !== undefined) return known;
    await nextTurn(this.#clock);
    const made = this.#fragments.get(key) ?? make();
    this.#fragments.set(key, made);
    return made;
  }
}

function builtinFragment(names: readonly string[], form: SwaggerForm): Fragment {
  const definitions = Object.fromEntries(names.map((name) => [name, builtinDefinition(name)]));
  return { paths: new Uint8Array(), definitions: writers[form](definitions, "schema", 1), parameters: {} };
}

function fragmentOf(definitions: readonly ResourceDefinition[], form: SwaggerForm): Fragment {
  const components = new ComponentCollector();
  const custom = definitions.filter((each) => each.custom);
  for (const each of custom) components.addCustom(each);
  const converter = new PathConverter();
  const paths = definitions.flatMap((each) => Object.entries(new OperationWriter(each, components).paths()));
  const converted = Object.fromEntries(paths.map(([path, item]) => [path, converter.path(item)]));
  return {
    paths: writers[form](converted, "pathItem", 2),
    definitions: writers[form](Object.assign({}, ...custom.map(customDefinitions)), "schema", 1),
    parameters: converter.parameters,
  };
}

interface Info {
  readonly title: string;
  readonly version: string;
}

interface Sections {
  readonly paths: readonly Uint8Array[];
  readonly definitions: readonly Uint8Array[];
  readonly parameters: readonly Uint8Array[];
}

const filled = (parts: readonly Uint8Array[]): readonly Uint8Array[] => parts.filter((each) => each.length > 0);

function joinJson(info: Info, sections: Sections): readonly Uint8Array[] {
  const parts: Uint8Array[] = [Buffer.from(`{"swagger":"2.0","info":${encodeJson(info)}`)];
  for (const [name, section] of Object.entries(sections)) {
    parts.push(Buffer.from(`,"${name}":{`));
    for (const [at, part] of filled(section).entries()) parts.push(...(at === 0 ? [] : [Buffer.from(",")]), part);
    parts.push(Buffer.from("}"));
  }
  return [...parts, Buffer.from("}\n")];
}

/** The numbers of the sections in the message Document. */
const sectionNumbers: readonly (readonly [name: keyof Sections, number: number])[] = [
  ["paths", 8],
  ["definitions", 9],
  ["parameters", 10],
];

function joinProtobuf(info: Info, sections: Sections): readonly Uint8Array[] {
  const head = new WireWriter();
  head.text(1, "2.0");
  const parts: Uint8Array[] = [head.bytes(), encodeMessage(2, "info", info)];
  for (const [name, number] of sectionNumbers) {
    const section = sections[name];
    const length = section.reduce((sum, part) => sum + part.length, 0);
    parts.push(lengthHeader(number, length), ...section);
  }
  return parts;
}
