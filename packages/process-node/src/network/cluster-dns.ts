import { messageOf } from "@setpoint/apimachinery";
import type { Clock, Timer } from "@setpoint/host";
import { createSocket, type Socket as UdpSocket } from "node:dgram";
import { createServer, type Server, type Socket } from "node:net";
import { answerClusterName } from "./cluster-names.ts";
import { encodeAnswer, parseQuestion, udpAnswerBytesMax } from "./dns-message.ts";
import type { ServiceTable } from "./service-table.ts";

const tcpMessageBytesMax = 65_535;
const tcpIdleMs = 10_000;

/** The cluster's DNS over UDP and TCP on one address; answers from the table of Services as it is at that moment. */
export class ClusterDns implements AsyncDisposable {
  readonly #table: ServiceTable;
  readonly #clock: Clock;
  #udp: UdpSocket | undefined;
  #tcp: Server | undefined;
  readonly #connections = new Set<Socket>();

  constructor(table: ServiceTable, clock: Clock) {
    this.#table = table;
    this.#clock = clock;
  }

  /** Undefined when it listens; otherwise why it cannot (a port below 1024 needs a right). */
  async listen(address: string, port: number = 53): Promise<string | undefined> {
    try {
      this.#udp = await listenUdp(address, port, (message) => this.#answer(message, udpAnswerBytesMax));
      this.#tcp = await listenTcp(address, port, (socket) => this.#serve(socket));
      return undefined;
    } catch (error) {
      await this[Symbol.asyncDispose]();
      return messageOf(error);
    }
  }

  get isListening(): boolean {
    return this.#tcp !== undefined;
  }

  /** Open connections over TCP. */
  get connectionCount(): number {
    return this.#connections.size;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#udp?.close();
    this.#tcp?.close();
    for (const socket of this.#connections) socket.destroy();
    this.#udp = undefined;
    this.#tcp = undefined;
  }

  #answer(message: Buffer, bytesMax: number): Buffer | undefined {
    const question = parseQuestion(message);
    if (question === undefined) return undefined;
    return encodeAnswer(question, answerClusterName(this.#table, question.name, question.type), bytesMax);
  }

  /** Over TCP each message has its length in front. */
  #serve(socket: Socket): void {
    let pending = Buffer.alloc(0);
    this.#connections.add(socket);
    const endLater = (): Timer => this.#clock.setTimer(() => socket.destroy(), tcpIdleMs);
    let idle = endLater();
    socket.once("close", () => {
      idle.cancel();
      this.#connections.delete(socket);
    });
    socket.on("error", () => socket.destroy());
    socket.on("data", (chunk: Buffer) => {
      idle.cancel();
      idle = endLater();
      pending = Buffer.concat([pending, chunk]);
      while (pending.length >= 2 && pending.length >= 2 + pending.readUInt16BE(0)) {
        const length = pending.readUInt16BE(0);
        const answer = this.#answer(pending.subarray(2, 2 + length), tcpMessageBytesMax);
        pending = pending.subarray(2 + length);
        if (answer === undefined) return void socket.destroy();
        const head = Buffer.alloc(2);
        head.writeUInt16BE(answer.length);
        socket.write(Buffer.concat([head, answer]));
      }
    });
  }
}

function listenUdp(address: string, port: number, answer: (message: Buffer) => Buffer | undefined): Promise<UdpSocket> {
  return new Promise((resolve, reject) => {
    const socket = createSocket("udp4");
    socket.once("error", reject);
    socket.on("message", (message, from) => {
      const reply = answer(message);
      if (reply !== undefined) socket.send(reply, from.port, from.address);
    });
    socket.bind(port, address, () => {
      socket.off("error", reject);
      socket.on("error", () => {});
      resolve(socket);
    });
  });
}

function listenTcp(address: string, port: number, serve: (socket: Socket) => void): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer(serve);
    server.once("error", reject);
    server.listen(port, address, () => {
      server.off("error", reject);
      resolve(server);
    });
  });
}
