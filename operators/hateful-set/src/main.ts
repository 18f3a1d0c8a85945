/** The operator's process. */
import { runOperatorProcess } from "setpoint/process";
import operator from "./operator.ts";

process.exitCode = await runOperatorProcess(operator);
