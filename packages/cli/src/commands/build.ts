import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { refuseMore, type Command } from "../command.ts";
import { parseImage } from "../image/image-name.ts";
import { buildOperatorImage } from "../image/operator-image.ts";
import { loadOperator, operatorPath } from "../load-operator.ts";

/** `setpoint build`: the image of an operator, without a container engine. */
export const build: Command = {
  name: "build",
  usage: "build FILE [--image IMAGE] [--output ARCHIVE]",
  summary:
    "Write an OCI image of the operator that FILE exports, with this Node and the project's packages, into an archive; default NAME-operator.tar.",
  async run(args, output) {
    const text = { type: "string" } as const;
    const options = { image: text, output: text } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    refuseMore("build an image", positionals, 1);
    const file = operatorPath(positionals[0], "build an image of");
    const { name } = await loadOperator(file, "build an image of");
    const reference = parseImage(values.image) ?? `${name}-operator:latest`;
    const out = resolve(values.output ?? `${name}-operator.tar`);
    const digest = await buildOperatorImage({ file, reference, out });
    output.out(`Wrote ${out}: image ${reference}, ${digest}\n`);
    output.err(
      `Next: setpoint image load ${out}, or docker load -i ${out}, or ctr images import ${out}, or skopeo copy oci-archive:${out} …\n`,
    );
    return 0;
  },
};
