/** Runs tasks of one key one after the other; tasks of different keys run concurrently. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();

  async run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const result = (this.#last.get(key) ?? Promise.resolve()).then(task);
    // A task that fails does not keep the next one from running; its caller gets the error.
    const done = result.catch(() => undefined);
    this.#last.set(key, done);
    try {
      return await result;
    } finally {
      if (this.#last.get(key) === done) this.#last.delete(key);
    }
  }
}
