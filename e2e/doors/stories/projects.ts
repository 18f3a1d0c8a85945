/** A project made by `setpoint create operator`: its scripts, its image, and its operator in a cluster. */
import type { Story } from "../story.ts";

export const projectStories: readonly Story[] = [
  {
    title: "a new project is tested, built, loaded and installed",
    pages: ["docs/projects.md", "docs/shipping.md", "docs/types-from-crds.md"],
    place: "project",
    inCi: true,
    acts: [
      { typed: "setpoint create operator ice-cream", says: /Created the operator "ice-cream"/ },
      {
        prepare:
          'cd ice-cream && sed -i \'s|"setpoint": *"[^"]*"|"setpoint": "file:\'$TARBALL\'"|\' package.json && npm install --prefer-offline --no-audit --no-fund',
        seconds: 180,
      },
      { typed: "npm test", says: /1 passed/ },
      { typed: "npm run types" },
      { typed: "npm run build", with: { "npm run build": "npm run build -- --image ice-cream:1" }, seconds: 120 },
      {
        typed: "npx setpoint build src/index.ts --image registry.example.com/candy:1.2",
        says: /Wrote .*: image registry\.example\.com\/candy:1\.2/,
        seconds: 120,
      },
      { prepare: "mv ice-cream-operator.tar candy-operator.tar" },
      {
        typed: "npx setpoint image load candy-operator.tar",
        says: /Loaded registry\.example\.com\/candy:1\.2/,
        seconds: 120,
      },
      {
        typed: "npx setpoint manifests src/index.ts --image registry.example.com/candy:1.2 | kubectl apply -f -",
        says: /deployment.apps\/ice-cream-operator created/,
      },
      {
        prepare:
          "kubectl wait -n ice-cream-system deployment/ice-cream-operator --for=condition=Available --timeout=60s",
        seconds: 70,
      },
      { typed: "setpoint generate types cluster/icecreams.ice-cream.example.com", says: /export interface IceCream / },
      { typed: "npx setpoint upgrade --dry-run" },
      {
        prepare:
          "npx setpoint image remove registry.example.com/candy:1.2; npx setpoint uninstall src/index.ts --kinds --yes",
      },
    ],
  },
];
