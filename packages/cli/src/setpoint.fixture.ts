import { main } from "./main.ts";

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs `setpoint` with these arguments in this process and keeps what it writes. */
export async function setpoint(...args: readonly string[]): Promise<Ran> {
  const written = { out: "", err: "" };
  const code = await main(args, {
    out: (text) => void (written.out += text),
    err: (text) => void (written.err += text),
  });
  return { code, ...written };
}
