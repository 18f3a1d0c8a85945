import { parseArgs } from "node:util";
import { SetpointError } from "@setpoint/apimachinery";
import { systemClock } from "@setpoint/host/system";
import { loadImages, LoadedImages } from "@setpoint/process-node";
import { imageCacheFolder } from "../cluster/cluster.ts";
import { type Command, type Output, refuseMore, untilSignal, usageError } from "../command.ts";
import { catalogueFile, readImageCatalogue } from "../image/catalogue-file.ts";
import { parseImage } from "../image/image-name.ts";
import { knownImages } from "../release/known-images.ts";
import { releaseOperators } from "../release/release-operators.ts";
import { withSlowStep } from "../slow-steps.ts";

interface ImageCall {
  readonly argument: string | undefined;
  readonly name: string | undefined;
  readonly replacesCatalogue: boolean;
  readonly images: string | undefined;
  readonly directory: string;
}

type Subcommand = (call: ImageCall, output: Output) => Promise<number> | number;

const subcommands: Readonly<Record<string, Subcommand>> = { load, list, remove };

/** `setpoint image`: the images that the nodes of `setpoint up` run. */
export const image: Command = {
  name: "image",
  usage:
    "image load PATH [--name IMAGE] [--replace-catalogue] | image list [--data-dir DIR] [--images FILE] | image remove IMAGE",
  summary:
    "Load an OCI image layout or an archive for the nodes of `setpoint up`, list what they can run, or remove a loaded image.",
  async run(args, output) {
    const text = { type: "string" } as const;
    const options = { name: text, images: text, "data-dir": text, "replace-catalogue": { type: "boolean" } } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const [name = "", argument] = positionals;
    const subcommand = Object.hasOwn(subcommands, name) ? subcommands[name] : undefined;
    if (subcommand === undefined) {
      const expected = `expected ${Object.keys(subcommands).join(", ")}, got "${name}"`;
      throw new SetpointError(usageError, `Cannot use the images: ${expected}`);
    }
    refuseMore(`${name} images`, positionals, name === "list" ? 1 : 2);
    const directory = values["data-dir"] ?? ".setpoint";
    const replacesCatalogue = values["replace-catalogue"] === true;
    return subcommand({ argument, name: values.name, replacesCatalogue, images: values.images, directory }, output);
  },
};

async function load({ argument, name, replacesCatalogue }: ImageCall, output: Output): Promise<number> {
  const path = required(argument, "load an image", "the path of a layout or an archive");
  const stop = new AbortController();
  void untilSignal().then((signal) => stop.abort(new Error(`stopped by ${signal}`)));
  const ownNames = releaseOperators().map((each) => each.image);
  const place = { clock: systemClock, directory: imageCacheFolder(), path, signal: stop.signal };
  const options = { ...place, replacesCatalogue, ownNames };
  const chosen = parseImage(name, "name");
  const loading = loadImages({ ...options, ...(chosen === undefined ? {} : { name: chosen }) });
  const loaded = await withSlowStep(output, `unpacking and verifying ${path}`, loading);
  for (const each of loaded) output.out(`Loaded ${each.name}, ${each.manifestDigest ?? each.id}\n`);
  return 0;
}

function list({ images, directory }: ImageCall, output: Output): number {
  const known = knownImages(readImageCatalogue(catalogueFile(images, directory)));
  const width = Math.max(...known.map(({ name }) => name.length));
  for (const { name, source } of known) output.out(`${name.padEnd(width)}  ${source}\n`);
  return 0;
}

function remove({ argument }: ImageCall, output: Output): number {
  const name = required(argument, "remove an image", "its name");
  if (!new LoadedImages(imageCacheFolder()).remove(name)) {
    const why = 'no loaded image has this name; "setpoint image list" shows those that are loaded';
    throw new SetpointError("ERR_IMAGE_UNKNOWN", `Cannot remove image "${name}": ${why}`);
  }
  output.out(`Removed ${name}; its files go when no container has used them for two days\n`);
  return 0;
}

function required(argument: string | undefined, what: string, expected: string): string {
  if (argument !== undefined && argument !== "") return argument;
  throw new SetpointError(usageError, `Cannot ${what}: expected ${expected}`);
}
