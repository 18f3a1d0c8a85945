/** The images that a user adds to those that Debian packages stand for. */
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { decodeYamlText, messageOf, SetpointError } from "@setpoint/apimachinery";
import { type ImageSource, parseImageCatalogue } from "@setpoint/process-node";
import { parse } from "yaml";

const fileInFolder = "images.yaml";

/** The file that `--images` names, else `images.yaml` of the data directory, else none. */
export function catalogueFile(file: string | undefined, directory: string | undefined): string | undefined {
  if (file !== undefined) return resolve(file);
  const inFolder = directory === undefined ? undefined : join(directory, fileInFolder);
  return inFolder !== undefined && existsSync(inFolder) ? inFolder : undefined;
}

/** YAML or JSON; throws `ERR_IMAGE_CATALOGUE` with the path of the field that is wrong. */
export function readImageCatalogue(file: string | undefined): Readonly<Record<string, ImageSource>> {
  if (file === undefined) return {};
  let value: unknown;
  try {
    value = parse(decodeYamlText(readFileSync(file)));
  } catch (cause) {
    // What follows the first line of yaml's messages is an excerpt.
    const [why = ""] = messageOf(cause).split("\n");
    throw new SetpointError("ERR_IMAGE_CATALOGUE", `Cannot read image catalogue "${file}": ${why.replace(/:$/, "")}`);
  }
  return parseImageCatalogue(value);
}
