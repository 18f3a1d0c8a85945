import { messageOf } from "@setpoint/apimachinery";
import type { Clock, Timer } from "@setpoint/host";
import type { Socket as UdpSocket } from "node:dgram";
import type { Server, Socket } from "node:net";
import { answerClusterName } from "./cluster-names.ts";
import { encodeAnswer, parseQuestion, udpAnswerBytesMax } from "./dns-message.ts";
import { hostSockets, type ServerSockets } from "./server-sockets.ts";
import type { ServiceTable } from "./service-table.ts";

const tcpMessageBytesMax = 65_535;
const tcpIdleMs = 10_000;
/** Of one pod: its connections never take the descriptors that others need. */
const connectionsPerClientMax = 16;
/** A client that does not read its answers gets no more of them until it does. */
const unreadBytesMax = 64 * 1024;

/**
 * The cluster's DNS over UDP and TCP on one address; answers from the table of Services as it is at that
 * moment.
 */
export class ClusterDns implements AsyncDisposable {
  readonly #table: ServiceTable;
  readonly #clock: Clock;
  readonly #sockets: ServerSockets;
  #udp: UdpSocket | undefined;
  #tcp: Server | undefined;
  readonly #connections = new Set<Socket>();

  constructor(table: ServiceTable, clock: Clock, sockets: ServerSockets = hostSockets) {
    this.#sockets = sockets;
    this.#table = table;
    this.#clock = clock;
  }

  /** Undefined when it listens; otherwise why it cannot (a port below 1024 needs a right). */
  async listen(address: string, port: number = 53): Promise<string | undefined> {
    try {
      const udp = await this.#sockets.bind(address, port);
      this.#udp = udp;
      udp.on("error", () => {});
      udp.on("message", (message, from) => {
        const reply = this.#answer(message, udpAnswerBytesMax);
        if (reply !== undefined) udp.send(reply, from.port, from.address);
      });
      this.#tcp = await this.#sockets.listen(address, port);
      this.#tcp.on("connection", (socket) => this.#serve(socket));
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
    if (this.#countOf(socket.remoteAddress) >= connectionsPerClientMax) return void socket.resetAndDestroy();
    let pending = Buffer.alloc(0);
    this.#connections.add(socket);
    const endLater = (): Timer => this.#clock.setTimer(() => socket.destroy(), tcpIdleMs);
    let idle = endLater();
    socket.once("close", () => {
      idle.cancel();
      this.#connections.delete(socket);
    });
    socket.on("error", () => socket.destroy());
    const answerPending = (): void => {
      while (pending.length >= 2 && pending.length >= 2 + pending.readUInt16BE(0)) {
        if (socket.writableLength > unreadBytesMax) return void socket.pause();
        const length = pending.readUInt16BE(0);
        const answer = this.#answer(pending.subarray(2, 2 + length), tcpMessageBytesMax);
        pending = pending.subarray(2 + length);
        if (answer === undefined) return void socket.destroy();
        const head = Buffer.alloc(2);
        head.writeUInt16BE(answer.length);
        socket.write(Buffer.concat([head, answer]));
      }
      socket.resume();
    };
    socket.on("drain", answerPending);
    socket.on("data", (chunk: Buffer) => {
      idle.cancel();
      idle = endLater();
      pending = Buffer.concat([pending, chunk]);
      answerPending();
    });
  }

  #countOf(client: string | undefined): number {
    return Iterator.from(this.#connections)
      .filter(({ remoteAddress }) => remoteAddress === client)
      .reduce((n) => n + 1, 0);
  }
}
