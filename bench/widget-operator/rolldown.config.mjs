// One small file, as docs/small-and-quick.md recommends for an image.
export default {
  input: "dist/main.js",
  platform: "node",
  output: { file: "dist/operator.mjs", format: "esm", codeSplitting: false, minify: true },
};
