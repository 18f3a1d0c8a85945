/** Decodes YAML in a worker thread: the time that a text takes is not bounded by its length. */
import { decodeJson } from "@setpoint/apimachinery";
import type { Worker } from "node:worker_threads";
import type { Clock } from "@setpoint/host";
import { badRequest } from "../response/api-errors.ts";
import type { DecodeYaml } from "./body-decoder.ts";
import { refusalOf, tooLarge } from "./body-bounds.ts";
import { type ParsedYaml, parseYaml } from "./parse-yaml.ts";
import type { YamlAnswer } from "./yaml-worker.ts";

/** Shorter texts are decoded at once: they cost less than the way to the thread and back. */
const charactersAtOnceMax = 1_024;
/** A text that takes longer is refused, and its thread is ended. */
export const yamlMsMax = 10_000;
const heapMegabytesMax = 256;

/** One thread that decodes one text after the other; it starts with the first, and keeps no process alive. */
export class YamlThread implements AsyncDisposable {
  readonly #clock: Clock;
  #worker: Worker | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  readonly decode: DecodeYaml = async (source) => {
    if (source.length <= charactersAtOnceMax) return parseYaml(source);
    const decoded = this.#last.then(() => this.#decodeAside(source));
    this.#last = decoded.catch(() => undefined);
    return decoded;
  };

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker?.terminate();
  }

  async #decodeAside(source: string): Promise<ParsedYaml> {
    const answer = await this.#ask(await this.#started(), source);
    if (answer.kind === "fault") throw new Error(answer.message);
    if (answer.kind === "excess") throw refusalOf(answer.excess);
    return { value: decodeJson(answer.json), duplicates: answer.duplicates };
  }

  async #started(): Promise<Worker> {
    if (this.#worker !== undefined) return this.#worker;
    // Loaded when it is needed: most processes never decode a long YAML text.
    const { Worker: Thread } = await import("node:worker_threads");
    const file = import.meta.url.endsWith(".ts") ? "./yaml-worker.ts" : "./yaml-worker.js";
    const resourceLimits = { maxOldGenerationSizeMb: heapMegabytesMax };
    const worker = new Thread(new URL(file, import.meta.url), { execArgv: [], resourceLimits });
    this.#worker = worker;
    // The time that a busy host takes to start it is not the text's.
    await new Promise((resolve, reject) => worker.once("online", resolve).once("error", reject));
    worker.unref();
    return worker;
  }

  /** Rejects when the text takes too long or more memory than the thread has. */
  #ask(worker: Worker, source: string): Promise<YamlAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<YamlAnswer>();
    const onError = (error: Error): void => {
      this.#end(worker);
      reject(badRequest(`error decoding YAML: ${error.message}`));
    };
    const late = this.#clock.setTimer(() => {
      this.#end(worker);
      reject(tooLarge(`the YAML takes longer than ${yamlMsMax / 1_000} s to decode; send JSON`));
    }, yamlMsMax);
    worker.once("message", resolve);
    worker.once("error", onError);
    worker.ref();
    worker.postMessage(source);
    return promise.finally(() => {
      late.cancel();
      worker.off("message", resolve);
      worker.off("error", onError);
      worker.unref();
    });
  }

  /** The next text gets a new thread. */
  #end(worker: Worker): void {
    if (this.#worker === worker) this.#worker = undefined;
    // An error that comes after the end concerns no request.
    worker.on("error", () => undefined);
    void worker.terminate();
  }
}
