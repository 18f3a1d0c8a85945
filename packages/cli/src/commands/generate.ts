import { parseArgs } from "node:util";
import { SetpointError } from "@setpoint/apimachinery";
import { usageError, type Command } from "../command.ts";
import { kindSource } from "../generate/kind-source.ts";
import { readCrds } from "../generate/read-crds.ts";
import { writeText } from "../write-text.ts";
import { withSlowStep } from "../slow-steps.ts";

/** `setpoint generate types`: typed kinds from CustomResourceDefinitions that exist. */
export const generate: Command = {
  name: "generate",
  usage:
    "generate types FILE|URL|cluster/NAME [--version VERSION] [--output FILE] [--kubeconfig FILE] [--context NAME]",
  summary: "Print the TypeScript of the kinds that CustomResourceDefinitions define: interfaces and a kind value each.",
  async run(args, output) {
    const text = { type: "string" } as const;
    const options = { version: text, output: text, kubeconfig: text, context: text } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const [what, source] = positionals;
    if (what !== "types" || source === undefined || positionals.length > 2) {
      if (what === "types" && source === undefined)
        throw new SetpointError(usageError, "Cannot generate types: expected a file, a URL or cluster/NAME");
      const given = positionals.length === 0 ? "types" : `"${positionals.join(" ")}"`;
      throw new SetpointError(
        usageError,
        `Cannot generate ${given}: expected "types" and a file, a URL or cluster/NAME`,
      );
    }
    const { version, output: file, ...cluster } = values;
    const crds = await withSlowStep(output, `reading ${source}`, readCrds(source, cluster));
    const module = kindSource(crds, {
      source,
      ...(version === undefined ? {} : { version }),
    });
    if (file === undefined) output.out(module);
    else writeText("the module", file, module);
    return 0;
  },
};
