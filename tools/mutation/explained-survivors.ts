/** Mutants that no test can notice, and why. */

export interface ExplainedSurvivor {
  /** The end of the file's path. */
  readonly file: string;
  /** As the report prints it. */
  readonly change: string;
  readonly why: string;
}

const ofOne = (file: string, survivors: Readonly<Record<string, string>>): readonly ExplainedSurvivor[] =>
  Object.entries(survivors).map(([change, why]) => ({ file, change, why }));

const sweeping = "only how often keys are looked through that may be forgotten, not which are";
const equalTimes = "of keys that are due at the same moment any may come first";
const shortcut =
  "only a shortcut: objects without owners are in no index but that of owners, where they have no values";

export const explainedSurvivors: readonly ExplainedSurvivor[] = [
  ...ofOne("queue/work-queue.ts", {
    "entry.startedMs < longest.startedMs → entry.startedMs <= longest.startedMs":
      "of keys that were taken at the same moment any is the longest running",
    "level === undefined || entry === undefined → level === undefined && entry === undefined":
      "for the type alone: a level that is chosen has a key",
    "this.#entries.size >= this.#sweepSize → this.#entries.size > this.#sweepSize": sweeping,
    "this.#entries.size >= this.#sweepSize → this.#entries.size < this.#sweepSize": sweeping,
    "this.#sweepSize = Math.max(sweepSizeMin, 2 * this.#entries.s… → (nothing)": sweeping,
    "this.#delays.remove(entry); → (nothing)":
      "in #wake: making a key ready takes it out too, and arms the timer once more for it",
    "priorities.indexOf(a) <= priorities.indexOf(b) → priorities.indexOf(a) < priorities.indexOf(b)":
      "of two equal priorities either is the same",
  }),
  ...ofOne("queue/fair-level.ts", {
    "this.#oldest?.readyMs ?? 0 → this.#oldest?.readyMs": "for the type alone: only a level that has keys is asked",
  }),
  ...ofOne("queue/delay-heap.ts", {
    "index > 0 → index >= 0": "the top has no parent, which ends the loop as well",
    "parent.dueMs <= entry.dueMs → parent.dueMs < entry.dueMs": equalTimes,
    "child.dueMs >= entry.dueMs → child.dueMs > entry.dueMs": equalTimes,
    "right.dueMs < left.dueMs → right.dueMs <= left.dueMs": equalTimes,
  }),
  ...ofOne("cache/store.ts", {
    'options.type ?? { apiVersion: "", kind: "" } → options.type':
      "only bytes have no type of their own, and whoever has bytes says it",
    "entry === undefined ? undefined : this.#lazy(entry) → this.#lazy(entry)":
      "for the type alone: of what is not there nothing is made",
    "this.#namespaces?.get(namespaceOf(key))?.delete(key); → (nothing)":
      "only memory: a key without an object is left out when a namespace is read",
    'this.#indexes.size === 1 && typeof entry === "number" → this.#indexes.size === 1 || typeof entry === "number"':
      shortcut,
  }),
  ...ofOne("cache/raw-objects.ts", {
    "columns * 64 → columns / 64": "only how often the table grows",
    "cut > 0 → cut >= 0": "where nothing is cut out nothing is moved",
    "at >= managedFields.end → at > managedFields.end":
      "no value begins where managed fields end: there is a comma, a brace or a key",
    "scan.hasOwners ? 1 : 0 → 1": shortcut,
  }),
  ...ofOne("cache/watchdog.ts", {
    "true → false": "virtual time has no process that a timer could keep alive",
  }),
  ...ofOne("controller/child-writer.ts", {
    'wanted.metadata.annotations?.[appliedAnnotation] ?? "" → wanted.metadata.annotations?.[appliedAnnotation]':
      "for the type alone: what is applied was given its mark just before",
    "gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds… → { gracePeriodSeconds }":
      "for the type alone: the client leaves out what is undefined",
    "propagation === undefined ? {} : { propagationPolicy: propag… → { propagationPolicy: propagation }":
      "for the type alone: the client leaves out what is undefined",
  }),
  ...ofOne("objects/applied-mark.ts", {
    "isRead ? JSON.stringify(asAuthored(copy)) : text → JSON.stringify(asAuthored(copy))":
      "another fingerprint of the same content, equally telling",
  }),
  ...ofOne("client/src/retry.ts", {
    'status.details?.causes?.some((cause) => cause.reason === "Di… → status.details?.causes?.some((cause) => cause.reason === "Di…':
      "for the type alone: undefined is as false as false",
    "retryAfterMs === undefined ? {} : { retryAfterMs } → { retryAfterMs }":
      "for the type alone: an absent time and an undefined one are read alike",
    "false → true": "an aborted signal ends the wait before the next attempt with the same reason",
    "text.length > messageLengthMax → text.length >= messageLengthMax": "what one more piece would add is cut off",
  }),
];
