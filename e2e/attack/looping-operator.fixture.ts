/**
 * An operator whose code never yields once a ConfigMap `trap` is there. Its arguments: a kubeconfig, and how
 * it loops.
 */
import { ConfigMap } from "@setpoint/api";
import { controller, defineOperator } from "setpoint";
import { runOperatorProcess } from "setpoint/process";

const [kubeconfig = "", way] = process.argv.slice(2);

const looping = controller(ConfigMap, {
  name: "looping",
  async reconcile(object) {
    if (object.metadata.name !== "trap") return;
    for (;;) if (way === "promises") await Promise.resolve();
  },
});

const operator = defineOperator({ name: "looping", controllers: [looping] });
process.exitCode = await runOperatorProcess(operator, { kubeconfig, stall: { reportMs: 1_000, endMs: 4_000 } });
