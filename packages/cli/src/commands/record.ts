import { parseArgs } from "node:util";
import { SetpointError } from "@setpoint/apimachinery";
import { connect } from "@setpoint/client/node";
import { sleep } from "@setpoint/host";
import { systemHost } from "@setpoint/host/system";
import { installKinds } from "setpoint/process";
import { parseNamespace, parseNumber, refuseMore, untilSignal, usageError, type Command } from "../command.ts";
import { recordOperator } from "../flight/record-operator.ts";
import { RecordingFile } from "../flight/recording-file.ts";
import { loadOperator } from "../load-operator.ts";

const megabytesDefault = 256;
/** What one string of Node can hold, with room to spare: a replay reads the file at once. */
const megabytesMax = 480;
const secondsMax = 7 * 24 * 3_600;

/** `setpoint record`: runs an operator and writes down everything that it is given. */
export const record: Command = {
  name: "record",
  usage:
    "record FILE --output RECORDING [--for SECONDS] [--max-megabytes N] [--keep-secrets] [--kubeconfig FILE] [--context NAME] [--namespace NS]",
  summary:
    "Run the operator that FILE exports and record what it sees and does, secrets redacted, for `setpoint replay`.",
  async run(args, output) {
    const text = { type: "string" } as const;
    const options = {
      output: { type: "string", short: "o" },
      for: text,
      "max-megabytes": text,
      "keep-secrets": { type: "boolean" },
      ...{ kubeconfig: text, context: text, namespace: text },
    } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    refuseMore("record an operator", positionals, 1);
    const { output: path, kubeconfig, context, namespace } = values;
    const operator = await loadOperator(positionals[0], "record");
    if (path === undefined)
      throw new SetpointError(usageError, "Cannot record: the file to record into is missing (--output)");
    const seconds = values.for === undefined ? undefined : parseNumber("for", values.for, 0, secondsMax);
    const bytesMax = parseNumber("max-megabytes", values["max-megabytes"], megabytesDefault, megabytesMax) * 1_000_000;
    const host = systemHost({ write: (line) => output.err(line) });
    await using transport = connect({
      clock: host.clock,
      userAgent: `${operator.name}-operator`,
      ...(kubeconfig === undefined ? {} : { kubeconfig }),
      ...(context === undefined ? {} : { context }),
    });
    await installKinds(operator, transport, host);
    const limit = new AbortController();
    const time = seconds === undefined ? new Promise(() => {}) : sleep(host.clock, seconds * 1_000, limit.signal);
    // It is aborted at the end, and also when nothing could be recorded and nobody waits for it.
    const end = Promise.race([untilSignal(), time]);
    end.catch(() => {});
    let file: RecordingFile | undefined;
    try {
      const { requests } = await recordOperator(
        {
          operator,
          transport,
          host,
          keepSecrets: values["keep-secrets"] ?? false,
          ...(namespace === undefined ? {} : { namespaces: [parseNamespace("namespace", namespace)] }),
          sink: (header) => (file = new RecordingFile(path, header, bytesMax)),
        },
        end,
      );
      output.out(
        `Recorded ${requests} requests of the operator "${operator.name}" in ${path} (${file?.bytes ?? 0} bytes).\n`,
      );
      return 0;
    } finally {
      limit.abort();
      file?.[Symbol.dispose]();
    }
  },
};
