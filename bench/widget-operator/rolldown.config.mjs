// One small file, as docs/small-and-quick.md recommends for an image.
/**
 * One character beyond Latin-1, such as an ellipsis in a message, and V8 keeps two bytes for each character
 * of the file.
 */
const latin1 = {
  name: "latin1",
  generateBundle(_options, files) {
    const escape = (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`;
    for (const file of Object.values(files))
      if (file.type === "chunk") file.code = file.code.replace(/[^\x00-\xff]/g, escape);
  },
};

export default {
  input: "dist/main.js",
  platform: "node",
  plugins: [latin1],
  output: { file: "dist/operator.mjs", format: "esm", codeSplitting: false, minify: true },
};
