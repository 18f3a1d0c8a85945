import { dirname, resolve } from "node:path";
import { parseArgs } from "node:util";
import { startCluster } from "../cluster/cluster.ts";
import { prepareFolder } from "../cluster/prepare-folder.ts";
import { parseNumber, refuseMore, untilSignal, type Command } from "../command.ts";
import { DevSession } from "../dev/dev-session.ts";
import { watchFolder } from "../dev/watch-folder.ts";
import { operatorPath } from "../load-operator.ts";
import { writeText } from "../write-text.ts";

const nodesMax = 10;

/** `setpoint dev`: an operator in a cluster of its own, reloaded as it is saved. */
export const dev: Command = {
  name: "dev",
  usage: "dev FILE [--watch DIR] [--data-dir DIR] [--port N] [--nodes N] [--kubeconfig FILE]",
  summary:
    "Start a cluster and run the operator that FILE exports in it; saving a source below its folder reloads the operator, the cluster stays.",
  async run(args, output) {
    const text = { type: "string" } as const;
    const options = { watch: text, "data-dir": text, port: text, nodes: text, kubeconfig: text } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    refuseMore("develop an operator", positionals, 1);
    const path = operatorPath(positionals[0], "develop");
    const kubeconfig = resolve(values.kubeconfig ?? ".setpoint/kubeconfig");
    const directory = values["data-dir"] === undefined ? undefined : resolve(values["data-dir"]);
    const port = parseNumber("port", values.port, 0, 65_535);
    const nodes = parseNumber("nodes", values.nodes, 1, nodesMax);
    prepareFolder("the kubeconfig's folder", dirname(kubeconfig));
    const stopped = untilSignal();
    const say = (line: string): void => output.err(`${line}\n`);
    await using cluster = await startCluster({ directory, port, nodes, say });
    writeText("the kubeconfig", kubeconfig, cluster.kubeconfig, 0o600);
    output.out(`Ready: ${cluster.url}, kubeconfig ${kubeconfig}\n`);
    await using session = new DevSession({ file: path, kubeconfig, say, err: (text) => output.err(text) });
    using _watch = watchFolder(resolve(values.watch ?? dirname(path)), cluster.host.clock, () => void session.reload());
    await session.reload();
    say(`${await stopped}: stopping`);
    return 0;
  },
};
