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
    "this.#keys.size >= this.#sweepSize → this.#keys.size > this.#sweepSize": sweeping,
    "this.#keys.size >= this.#sweepSize → this.#keys.size < this.#sweepSize": sweeping,
    "this.#sweepSize = Math.max(sweepSizeMin, 2 * this.#keys.size… → (nothing)": sweeping,
    "item.runningSinceMs ?? 0 → item.runningSinceMs": "for the type alone: a key that runs has the time of its start",
    "level === undefined || item?.ready === undefined → level === undefined && item?.ready === undefined":
      "for the type alone: a level is chosen if it has keys, and all keys of a level are ready",
    "item.dirty ?? priority → item.dirty":
      "for the type alone: the more urgent of undefined and a priority is the priority",
    "this.#bucket?.allowedMs(item) ?? nowMs → this.#bucket?.allowedMs(item)":
      "for the type alone: without a rate limit undefined is not later than now either",
    "next?.passes ?? 0 → next?.passes": "for the type alone: without a level that has keys nothing is compared",
    "level.oldestMs ?? nowMs → level.oldestMs": "for the type alone: a level that has keys has an oldest one",
  }),
  ...ofOne("queue/delaying-queue.ts", {
    "this.#drop(delay); → (nothing)": "the work queue drops the delay of each key that it makes ready",
  }),
  ...ofOne("queue/delay-heap.ts", {
    "index > 0 → index >= 0": "the top has no parent, which ends the loop as well",
    "parent.dueMs <= entry.dueMs → parent.dueMs < entry.dueMs": equalTimes,
    "child.dueMs >= entry.dueMs → child.dueMs > entry.dueMs": equalTimes,
    "right.dueMs < left.dueMs → right.dueMs <= left.dueMs": equalTimes,
  }),
  ...ofOne("cache/store.ts", {
    'options.type ?? { apiVersion: "", kind: "" } → options.type':
      "only bytes have no type of their own, and the caller that has bytes names their type",
    "entry === undefined ? undefined : this.#lazy(entry) → this.#lazy(entry)":
      "for the type alone: of what is not there nothing is made",
    "this.#namespaces?.get(namespaceOf(key))?.delete(key); → (nothing)":
      "only memory: a key without an object is left out when a namespace is read",
    'this.#indexes.size === 1 && typeof entry === "number" → this.#indexes.size === 1 || typeof entry === "number"':
      shortcut,
  }),
  ...ofOne("cache/raw/raw-objects.ts", {
    "columns * 64 → columns / 64": "only how often the table grows",
    "cut > 0 → cut >= 0": "where nothing is cut out nothing is moved",
    "at >= managedFields.end → at > managedFields.end":
      "no value begins where managed fields end: there is a comma, a brace or a key",
    "scan.hasOwners ? 1 : 0 → 1": shortcut,
    "slab.live < slab.size * liveShareMin → slab.live <= slab.size * liveShareMin":
      "a slab of which exactly half is in use may stay or go",
    "(object.kind as string | undefined) === undefined ? { ...thi… → { ...this.#type, ...object }":
      "only a shortcut: an object's own type goes over that of its kind",
    "this.#slabs.read(slab).slice() → this.#slabs.read(slab)":
      "what was just read is packed last, so its buffer is not another's yet; the copy does not depend on that",
    "slot < this.#slabOf.length → slot <= this.#slabOf.length": "behind the last slot there is no slab",
    "(slot + 1) * columns <= this.#table.length → (slot + 1) * columns < this.#table.length":
      "only how often the table grows",
    "slot + 1 → slot - 1": "of the grown table: only how much it grows",
    "this.#table[slot * columns + column] ?? 0 → this.#table[slot * columns + column]":
      "for the type alone: only rows of the table are read",
  }),
  ...ofOne("cache/informer.ts", {
    "gone.size > 0 → gone.size >= 0": "only a shortcut: nothing is taken out of an empty set",
    "false → true": "before the first complete list there is nothing that could be newer or older than what comes",
    "this.#reflector.silentForMs() ?? Number.POSITIVE_INFINITY → this.#reflector.silentForMs()":
      "for the type alone: undefined is not less than any time either",
  }),
  ...ofOne("cache/reflector.ts", {
    "false → true": "of #relist: the first thing that is done is a list",
    "true → false": "of the listener for the end: it is removed with the stream",
    "this.#stream = undefined; → (nothing)": "only memory: to end a stream that is over does nothing",
    "this.#position.isListDue → true": "only memory: what was shown is the store's, and is not given up again",
  }),
  ...ofOne("cache/list-pager.ts", {
    "false → true": "of #hasBegun: each list begins with setting it",
    'plan.method === "list" && !signal.aborted → plan.method === "list" || !signal.aborted':
      "pages, the other way to list, are the last one: there is nothing to fall back to",
    "page.continue === undefined ? {} : { continue: page.continue… → { continue: page.continue }":
      "for the type alone: an absent token and an undefined one are sent alike",
    'page.resourceVersion ?? "" → page.resourceVersion': "for the type alone: every list has a revision",
  }),
  ...ofOne("cache/watch-errors.ts", {
    "isApiError(error) && error.code >= 400 → isApiError(error) || error.code >= 400":
      "for the type alone: the codes of errors that the server answers begin with 400",
  }),
  ...ofOne("cache/raw/slabs.ts", {
    "this.#packer !== undefined && slab !== this.#last → this.#packer !== undefined || slab !== this.#last":
      "only a shortcut: the last stays the last, and without a packer nobody asks for the order",
    "this.#last = slab; → (nothing)": "only a shortcut: what is the last goes to the end once more",
  }),
  ...ofOne("cache/store-index.ts", {
    "this.#keys.delete(value); → (nothing)": "of an empty set, only memory: no key is found in it either",
  }),
  ...ofOne("cache/raw/staged-list.ts", {
    "this.#scan.scan(bytes) ? this.#scan.key() : storeKey(this.#p… → storeKey(this.#ports.decode(bytes).metadata)":
      "only a shortcut: the same key, read without decoding the object",
    "this.#staged.clear(); → (nothing)": "only memory: what was shown is the store's, and is not given up again",
  }),
  ...ofOne("cache/watch-frames.ts", {
    'object.metadata.namespace ?? "" → object.metadata.namespace':
      "any text stands for no namespace, as long as it is the same each time",
  }),
  ...ofOne("controller/own-writes.ts", {
    "this.isEmpty ? undefined : this.#writes.get(this.#cache.of(k… → this.#writes.get(this.#cache.of(kind).kind)":
      "only a shortcut: of a run without writes no kind has any",
    "namespace === undefined ? { name } : { name, namespace } → { name, namespace }":
      "for the type alone: an absent namespace and an undefined one are asked for alike",
    "false → true": "of the stopped run: that it is stopped ends the wait as well",
    "true → false": "of the listener for the stop: it is removed when the wait ends",
  }),
  ...ofOne("cache/watchdog.ts", {
    "true → false": "virtual time has no process that a timer could keep alive",
  }),
  ...ofOne("controller/status-writer.ts", {
    "this.#sayings++ → this.#sayings--": "the number only tells whether anything was reported since",
    "this.#written = { sayings, resourceVersion: this.#ports.curr… → (nothing)":
      "only a shortcut: a status that has just been written is compared again",
    "draft.fields !== undefined && draft.kept.length === 0 ? unde… → this.#own()":
      "only a shortcut: where nothing of others stays, all of it is ours",
  }),
  ...ofOne("controller/child-writer.ts", {
    "namespace === undefined ? target : { ...target, metadata: { … → { ...target, metadata: { ...target.metadata, namespace } }":
      "for the type alone: a namespace that is undefined is none",
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
