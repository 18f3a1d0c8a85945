import { execInPod, type HttpConnection } from "@setpoint/client/node";

export interface PodPlace {
  readonly connection: HttpConnection;
  readonly namespace: string;
  readonly pod: string;
  /** The only one when absent. */
  readonly container?: string | undefined;
}

/** What the command printed; rejects when it ends with another code than 0. */
export async function runInPod({ container, ...place }: PodPlace, command: readonly string[]): Promise<string> {
  const chunks: Uint8Array[] = [];
  const collect = (chunk: Uint8Array): void => void chunks.push(chunk);
  const of = container === undefined ? {} : { container };
  const { exitCode } = await execInPod({ ...place, ...of, command, stdout: collect, stderr: collect });
  const text = Buffer.concat(chunks).toString().trim();
  if (exitCode !== 0) throw new Error(`${command[0]} in ${place.pod} ended with ${exitCode}: ${text}`);
  return text;
}
