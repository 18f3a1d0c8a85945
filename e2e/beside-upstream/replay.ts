/** Sends the inputs of a file to a server and returns what it answered. */
import { Agent, request } from "node:https";
import { setTimeout as delay } from "node:timers/promises";
import { comparable, type Answer } from "./answers.ts";
import { readDefinition, type Input, type InputFile, type Step } from "./inputs.ts";

/** A server and the administrator's credentials, all PEM. */
export interface Server {
  readonly url: string;
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** The answers to each step of each input, by the input's name. */
export type Recording = Readonly<Record<string, readonly Answer[]>>;

const establishedMsMax = 10_000;
const atOnce = 8;
const answerMsMax = 5_000;

/** Connections to one server. */
export class Session {
  readonly #server: Server;
  readonly #agent: Agent;

  constructor(server: Server) {
    this.#server = server;
    this.#agent = new Agent({ keepAlive: true, maxSockets: atOnce, ca: server.ca, cert: server.cert, key: server.key });
  }

  /** Replays a file: its definitions, then each input in a namespace of its own. */
  async replay(file: InputFile): Promise<Recording> {
    for (const name of file.definitions) await this.#define(readDefinition(name));
    const waiting = [...file.inputs];
    const answers = new Map<string, readonly Answer[]>();
    const work = async (): Promise<void> => {
      for (let input = waiting.shift(); input !== undefined; input = waiting.shift())
        answers.set(input.name, await this.#replayInput(input, file.managedFields));
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    return Object.fromEntries(file.inputs.map(({ name }) => [name, answers.get(name) ?? []]));
  }

  async #replayInput(input: Input, keepsManagedFields: boolean): Promise<readonly Answer[]> {
    await this.#prepare(input.namespace);
    const answers: Answer[] = [];
    for (const step of input.steps) {
      const { status, warnings, text } = await this.#send(step);
      answers.push(comparable(status, warnings, text, keepsManagedFields));
    }
    return answers;
  }

  /** Neither server runs the controllers that make a namespace's service account. */
  async #prepare(namespace: string): Promise<void> {
    await this.#create("/api/v1/namespaces", { metadata: { name: namespace } });
    await this.#create(`/api/v1/namespaces/${namespace}/serviceaccounts`, {
      metadata: { name: "default" },
      automountServiceAccountToken: false,
    });
  }

  async #create(path: string, object: object): Promise<void> {
    const { status, text } = await this.#send(
      step("POST", path, "application/json", Buffer.from(JSON.stringify(object))),
    );
    if (status !== 201 && status !== 409) throw new Error(`Cannot create an object at ${path}: ${status} ${text}`);
  }

  async #define(definition: Buffer): Promise<void> {
    const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    const { status, text } = await this.#send(step("POST", path, "application/yaml", definition));
    if (status === 409) return;
    if (status !== 201) throw new Error(`Cannot create a definition: ${status} ${text}`);
    const { metadata, spec } = JSON.parse(text) as {
      metadata: { name: string };
      spec: { group: string; names: { plural: string }; versions: readonly { name: string }[] };
    };
    const served = `/apis/${spec.group}/${spec.versions[0]?.name}/${spec.names.plural}`;
    for (let waitedMs = 0; (await this.#send(step("GET", served))).status !== 200; waitedMs += 100) {
      if (waitedMs >= establishedMsMax) throw new Error(`${metadata.name} is not served after ${establishedMsMax} ms`);
      await delay(100);
    }
  }

  #send(step: Step): Promise<{ status: number; warnings: readonly string[]; text: string }> {
    const headers = {
      accept: "application/json",
      ...(step.body === undefined ? {} : { "content-type": step.contentType, "content-length": step.body.byteLength }),
    };
    return new Promise((resolve, reject) => {
      const sent = request(
        new URL(step.path, this.#server.url),
        { method: step.method, agent: this.#agent, headers },
        (answer) => {
          const chunks: Buffer[] = [];
          answer.on("data", (chunk: Buffer) => chunks.push(chunk));
          answer.on("error", reject);
          answer.on("end", () =>
            resolve({
              status: answer.statusCode ?? 0,
              warnings: warningTexts(answer.headers["warning"]),
              text: Buffer.concat(chunks).toString("utf8"),
            }),
          );
        },
      );
      // A stream, such as a watch that was opened by mistake, is compared by this text.
      sent.setTimeout(answerMsMax, () => {
        resolve({ status: 0, warnings: [], text: `"no end of the answer after ${answerMsMax} ms"` });
        sent.destroy();
      });
      sent.on("error", reject);
      sent.end(step.body);
    });
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}

const step = (method: string, path: string, contentType = "application/json", body?: Buffer): Step => ({
  method,
  path,
  contentType,
  body,
});

/** The texts of `299 - "text", 299 - "text"`. */
function warningTexts(header: string | undefined): readonly string[] {
  return [...(header ?? "").matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, text = ""]) =>
    text.replaceAll(/\\(.)/g, "$1"),
  );
}
