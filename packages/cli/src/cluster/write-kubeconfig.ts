import { writeFileSync } from "node:fs";
import { SetpointError } from "@setpoint/apimachinery";

/** For its owner alone: it holds the key of an administrator. */
export function writeKubeconfig(path: string, text: string): void {
  try {
    writeFileSync(path, text, { mode: 0o600 });
  } catch (cause) {
    const message = `Cannot write the kubeconfig "${path}": it must be a file that can be written to; choose another --kubeconfig`;
    throw new SetpointError("ERR_FOLDER", message, { cause });
  }
}
