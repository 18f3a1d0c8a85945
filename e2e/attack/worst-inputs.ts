/** The worst bodies, queries and headers that fit into the limits of a request, one line a decoder. */
import { crowdedInputs, jsonInputs } from "./worst-inputs/json-inputs.ts";
import { patchInputs } from "./worst-inputs/patch-inputs.ts";
import { protobufInputs } from "./worst-inputs/protobuf-inputs.ts";
import { pathInputs, queryInputs } from "./worst-inputs/query-inputs.ts";
import type { WorstInput } from "./worst-inputs/worst-input.ts";
import { yamlInputs } from "./worst-inputs/yaml-inputs.ts";

export const worstInputs: readonly WorstInput[] = [
  ...jsonInputs,
  ...crowdedInputs,
  ...yamlInputs,
  ...protobufInputs,
  ...patchInputs,
  ...queryInputs,
  ...pathInputs,
];
