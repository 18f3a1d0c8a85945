/** Steps that mostly run through at once, and now and then yield something to wait for. */
export type Waits<T> = Generator<Promise<void>, T, void>;
