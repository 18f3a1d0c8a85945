import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { refuseMore, type Command } from "../command.ts";
import { parseImage } from "../image/image-name.ts";
import { buildOperatorImage } from "../image/operator-image.ts";
import { loadOperator, operatorPath } from "../load-operator.ts";
import { writeOwnImage } from "../release/own-images.ts";
import { findReleaseOperator, installationOf } from "../release/release-operators.ts";
import { withSlowStep } from "../slow-steps.ts";

/** `setpoint build`: the image of an operator, without a container engine. */
export const build: Command = {
  name: "build",
  usage: "build FILE [--image IMAGE] [--output ARCHIVE]",
  summary:
    "Write an OCI image of the operator of FILE, with this Node and the packages that it needs, into an archive; default NAME-operator.tar.",
  async run(args, output) {
    const text = { type: "string" } as const;
    const options = { image: text, output: text } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    refuseMore("build an image", positionals, 1);
    const [given = ""] = positionals;
    const file = operatorPath(positionals[0], "build an image of");
    const operator = await loadOperator(given, "build an image of");
    const reference = parseImage(values.image) ?? installationOf(given, operator).image;
    const out = resolve(values.output ?? `${operator.name}-operator.tar`);
    const ofRelease = findReleaseOperator(given);
    const building =
      ofRelease === undefined
        ? buildOperatorImage({ file, reference, out })
        : writeOwnImage(ofRelease, { reference, out });
    const digest = await withSlowStep(output, `building ${reference}`, building);
    output.out(`Wrote ${out}: image ${reference}, ${digest}\n`);
    output.err(
      `Next: setpoint image load ${out}, or docker load -i ${out}, or ctr images import ${out}, or skopeo copy oci-archive:${out} …\n`,
    );
    return 0;
  },
};
