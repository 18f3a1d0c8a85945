/** `exec` and `attach`: the streams of a process in a container, over a WebSocket or SPDY. */
import { lookupTable } from "@setpoint/apimachinery";
import type { ExecProcess } from "../sandbox/container-runtime.ts";
import { refuse } from "./answers.ts";
import { type ExecStreams, execProtocols, runExecSession } from "./exec-session.ts";
import { serveSpdyExec, spdyExecProtocol } from "./spdy-exec.ts";
import { endOnError, isSpdy, listOf, takeSpdy, type Upgrade, webSocketServer } from "./upgrade.ts";

/** Kubelets take `input`, `output` and `error`; clients of the API server `stdin`, `stdout` and `stderr`. */
const shortNames: Readonly<Record<string, string>> = lookupTable({ stdin: "input", stdout: "output", stderr: "error" });

export class RemoteCommands {
  static readonly needs: string = `exec and attach need a WebSocket (${execProtocols.join(" or ")}) or SPDY/3.1 (${spdyExecProtocol})`;
  readonly #webSockets = webSocketServer(execProtocols);

  close(): void {
    this.#webSockets.close();
  }

  /** `start` is called when the client is ready for the process. */
  serve(upgrade: Upgrade, query: URLSearchParams, start: (streams: ExecStreams) => ExecProcess): void {
    const { request, socket, head } = upgrade;
    const streams = streamsOf(query);
    if (isSpdy(request)) {
      const serve = (carrier: Upgrade["socket"]): void => serveSpdyExec(carrier, () => start(streams), streams);
      return takeSpdy(upgrade, spdyExecProtocol, RemoteCommands.needs, serve);
    }
    const offered = listOf(request.headers["sec-websocket-protocol"]);
    const isKnown = offered.length === 0 || execProtocols.some((each) => offered.includes(each));
    if (!isKnown) return refuse(socket, 400, RemoteCommands.needs);
    this.#webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      endOnError(webSocket);
      void runExecSession(webSocket, start(streams), streams);
    });
  }
}

/** A terminal has one output. */
function streamsOf(query: URLSearchParams): ExecStreams {
  const isSet = (name: string): boolean =>
    ["true", "1"].includes(query.get(name) ?? query.get(shortNames[name] ?? "") ?? "");
  const tty = isSet("tty");
  return { stdin: isSet("stdin"), stdout: isSet("stdout"), stderr: isSet("stderr") && !tty, tty };
}
