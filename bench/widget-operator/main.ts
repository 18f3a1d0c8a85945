/**
 * Runs the operator as the comparison of frameworks wants it: `SYNCED` when the caches are complete, SIGTERM
 * ends it.
 */
import { connect } from "@setpoint/client/node";
import { systemHost } from "@setpoint/host/system";
import { runOperator } from "setpoint/process";
import { collectAfterStart } from "setpoint/process";
import { widgetOperator } from "./widget.ts";

const host = systemHost({ write: (line) => void process.stderr.write(line) });
await using transport = connect({ clock: host.clock, userAgent: "widget-operator" });
await using manager = runOperator(widgetOperator(process.env["PEER_MODE"] === "watch" ? "watch" : "full"), {
  transport,
  host,
  caches: { freeze: process.env["NODE_ENV"] !== "production" },
});
const signalled = new Promise<void>((resolve) => process.once("SIGTERM", () => resolve()));
await manager.ready;
console.log("SYNCED");
collectAfterStart();
await Promise.race([signalled, manager.done]);
