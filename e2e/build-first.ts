/**
 * Builds the operator before the first test: of two files that build at once, one would put an image together
 * from half of the other's files.
 */
export { buildOperator as setup } from "../tools/image/operator-image.ts";
