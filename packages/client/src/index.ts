/** See the package README. */
export {};
