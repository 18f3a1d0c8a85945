/**
 * Admission by webhooks: which webhooks the server calls, in which order, and what their responses change.
 */
import {
  decodeJson,
  ApiError,
  failure,
  isApiError,
  jsonPatch,
  type JsonObject,
  type Status,
  type UnstructuredObject,
  messageOf,
} from "@setpoint/apimachinery";
import type { AdmissionPlugin, AdmissionRequest } from "../registry/admission-plugin.ts";
import { forbiddenByAdmission } from "../admission/namespace-lifecycle.ts";
import { checkJsonBounds } from "../request/body-bounds.ts";
import type { Authorizer } from "../request/request-attributes.ts";
import type { ResourceDefinition } from "../registry/resource-definition.ts";
import { internalError } from "../response/api-errors.ts";
import { type AdmissionAnswer, admissionReview, InvalidAnswer, parseAdmissionAnswer } from "./admission-review.ts";
import { type Equivalents, matchRequest } from "./match-request.ts";
import { requestAuthorizer } from "./request-authorizer.ts";
import { postReview } from "./post-review.ts";
import { subjectDefinition } from "./subject-definition.ts";
import { replaceContent, type VersionConverter } from "./version-converter.ts";
import { isExempt } from "./resource-rules.ts";
import type { WebhookCaller } from "./webhook-caller.ts";
import type { CompiledWebhook, WebhookList } from "./webhook-list.ts";

export interface WebhookAdmissionParts {
  readonly caller: WebhookCaller;
  /** The authorizer that match conditions use. */
  readonly authorizer: Authorizer;
  readonly equivalents: Equivalents;
  readonly converter: VersionConverter;
  /** Gives up calls when the server stops. */
  readonly signal: AbortSignal;
}

const timeoutSecondsDefault = 10;

interface Selected {
  readonly compiled: CompiledWebhook;
  readonly definition: ResourceDefinition;
}

/** Calls the webhooks of one kind. */
class WebhookAdmission {
  readonly #parts: WebhookAdmissionParts;
  readonly #list: WebhookList;

  constructor(list: WebhookList, parts: WebhookAdmissionParts) {
    this.#list = list;
    this.#parts = parts;
  }

  /** Those that want to see the request; decided without waiting. */
  select(request: AdmissionRequest): readonly Selected[] {
    const { all } = this.#list;
    if (all.length === 0 || isExempt(request)) return [];
    return all.flatMap((compiled) => {
      const definition = this.#match(compiled, request);
      return definition === undefined ? [] : [{ compiled, definition }];
    });
  }

  #match({ webhook, conditions }: CompiledWebhook, request: AdmissionRequest): ResourceDefinition | undefined {
    const { equivalents, authorizer } = this.#parts;
    const definition = matchRequest({ ...webhook, rules: webhook.rules ?? [] }, request, equivalents);
    if (definition === undefined || conditions === undefined) return definition;
    try {
      return conditions.hold(request, requestAuthorizer(authorizer, request)) ? definition : undefined;
    } catch (error) {
      if (webhook.failurePolicy === "Ignore") return undefined;
      throw forbiddenByAdmission(request, messageOf(error));
    }
  }

  /** The response; undefined when the call failed and the webhook's failurePolicy is Ignore. */
  async ask(request: AdmissionRequest, selected: Selected, mayPatch: boolean): Promise<AdmissionAnswer | undefined> {
    const { webhook } = selected.compiled;
    try {
      const answer = await this.#call(request, selected, mayPatch);
      for (const warning of answer.warnings) request.warn(warning);
      if (!answer.allowed) throw denied(webhook.name, answer.status);
      return answer;
    } catch (error) {
      if (isApiError(error)) throw error;
      this.#parts.signal.throwIfAborted();
      if (webhook.failurePolicy === "Ignore") return undefined;
      throw internalError(`failed calling webhook ${JSON.stringify(webhook.name)}: ${messageOf(error)}`);
    }
  }

  async #call(request: AdmissionRequest, selected: Selected, mayPatch: boolean): Promise<AdmissionAnswer> {
    const { caller, converter, signal } = this.#parts;
    const { definition, compiled } = selected;
    const { clientConfig: config, timeoutSeconds = timeoutSecondsDefault } = compiled.webhook;
    const uid = request.random.uuid();
    const convert = (object: UnstructuredObject | undefined): Promise<UnstructuredObject | undefined> =>
      converter.convert(subjectDefinition(request, request.definition), subjectDefinition(request, definition), object);
    const [object, old] = await Promise.all([convert(request.object), convert(request.old)]);
    const review = admissionReview(request, uid, { definition, object, old });
    try {
      const answer = await postReview(caller, request.clock, { config, timeoutSeconds, review, signal });
      return parseAdmissionAnswer(answer, uid, mayPatch);
    } catch (error) {
      const isInvalid = error instanceof InvalidAnswer && !error.isCall;
      const step = isInvalid ? "received invalid webhook response" : "failed to call webhook";
      throw new Error(`${step}: ${messageOf(error)}`, { cause: error });
    }
  }

  /** Whether the patch changed the object. */
  async patch(request: AdmissionRequest, { compiled, definition }: Selected, patch: string): Promise<boolean> {
    const { object, operation } = request;
    if (object === undefined || operation === "CONNECT")
      throw internalError(
        "admission webhook attempted to modify the object, which is not supported for this operation",
      );
    const operations = parsePatch(compiled.webhook.name, patch);
    const { converter } = this.#parts;
    const own = subjectDefinition(request, request.definition);
    const asked = subjectDefinition(request, definition);
    const shown = await converter.convert(own, asked, object);
    const patched = converter.decode(asked, applied(shown, operations));
    const back = await converter.convert(asked, own, patched);
    return back !== undefined && replaceContent(object, back);
  }
}

function parsePatch(name: string, patch: string): unknown {
  try {
    checkJsonBounds(Buffer.from(patch));
    return decodeJson(patch);
  } catch (error) {
    const why = `received undecodable patch in webhook response: ${messageOf(error)}`;
    throw internalError(`failed calling webhook ${JSON.stringify(name)}: ${why}`);
  }
}

function applied(object: unknown, operations: unknown): unknown {
  try {
    return jsonPatch(object, operations);
  } catch (error) {
    // The cause has the reason; the error's message hides it, as the API hides it from clients that send a
    // patch.
    throw internalError(messageOf(error instanceof Error ? (error.cause ?? error) : error));
  }
}

/** A webhook may return any number; these are HTTP's error codes. */
function isErrorCode(code: unknown): code is number {
  return typeof code === "number" && Number.isInteger(code) && code >= 400 && code <= 599;
}

/** The error of a denied request: the server's message with the webhook's reason. */
function denied(name: string, status: JsonObject): ApiError {
  const { message = "", reason = "", code, details } = status as Partial<Status>;
  const why = message === "" ? reason : message;
  const text = `admission webhook ${JSON.stringify(name)} denied the request${why === "" ? " without explanation" : `: ${why}`}`;
  const answered = failure(isErrorCode(code) ? code : 400, reason, text);
  return new ApiError(details === undefined ? answered : { ...answered, details });
}

/** Called one after the other; each gets the object as the earlier ones changed it. */
export function mutatingWebhooks(list: WebhookList, parts: WebhookAdmissionParts): AdmissionPlugin {
  const admission = new WebhookAdmission(list, parts);
  const rounds = new WeakMap<object, Reinvocation>();
  return {
    name: "MutatingAdmissionWebhook",
    async admit(request) {
      const { pass } = request;
      const again = rounds.get(pass)?.again;
      if (pass.isRepeated && again === undefined) return;
      const selected = admission.select(request).filter(({ compiled }) => again?.has(compiled) ?? true);
      const round = new Reinvocation();
      if (!pass.isRepeated) rounds.set(pass, round);
      await askInTurn(admission, request, selected, round);
    },
  };
}

/** The webhooks to call a second time, because the object has changed since their call. */
class Reinvocation {
  readonly again = new Set<CompiledWebhook>();
  readonly #asked = new Set<CompiledWebhook>();

  wasAsked(compiled: CompiledWebhook, isChanged: boolean): void {
    if (isChanged) for (const earlier of this.#asked) this.again.add(earlier);
    if (compiled.webhook.reinvocationPolicy === "IfNeeded") this.#asked.add(compiled);
  }
}

async function askInTurn(
  admission: WebhookAdmission,
  request: AdmissionRequest,
  selected: readonly Selected[],
  round: Reinvocation,
): Promise<void> {
  for (const each of selected) {
    const answer = await admission.ask(request, each, true);
    const { patch } = answer ?? {};
    const isChanged = patch !== undefined && (await admission.patch(request, each, patch));
    if (isChanged) request.pass.isNeededAgain = true;
    round.wasAsked(each.compiled, isChanged);
  }
}

/** Called all at once; the client gets the first denial in the order of the configurations. */
export function validatingWebhooks(list: WebhookList, parts: WebhookAdmissionParts): AdmissionPlugin {
  const admission = new WebhookAdmission(list, parts);
  return {
    name: "ValidatingAdmissionWebhook",
    async validate(request) {
      await askTogether(admission, request, admission.select(request));
    },
  };
}

async function askTogether(
  admission: WebhookAdmission,
  request: AdmissionRequest,
  selected: readonly Selected[],
): Promise<void> {
  const results = await Promise.allSettled(selected.map((each) => admission.ask(request, each, false)));
  const refused = results.find((result) => result.status === "rejected");
  if (refused !== undefined) throw refused.reason;
}
