// SPDX-License-Identifier: Apache-2.0
// Builds the pages into dist, or into the folder that the first argument names: the same bytes from the same sources.
import { build } from "esbuild";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const into = process.argv[2] ?? join(here, "dist");
await mkdir(into, { recursive: true });
const plotLicence = await readFile(join(here, "node_modules/uplot/LICENSE"), "utf8");
await build({
    absWorkingDir: here,
    entryPoints: { app: "src/main.ts", "lab/lab": "src/lab/main.ts" },
    outdir: into,
    bundle: true,
    minify: true,
    legalComments: "none",
    banner: { js: `/* Corro, Apache-2.0. Contains uPlot:\n${plotLicence}*/` },
    format: "iife",
    target: "es2022",
    charset: "utf8",
});
await copyFile(join(here, "src/index.html"), join(into, "index.html"));
await copyFile(join(here, "src/lab/index.html"), join(into, "lab/index.html"));
await writeFile(join(into, "lab/files.txt"), "index.html\nlab.css\nlab.js\n");
await writeFile(join(into, "files.txt"), "app.css\napp.js\nindex.html\n");
