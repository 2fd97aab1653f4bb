// Makes the npm packages of a release: `node scripts/package.mjs ../zig-out/release OUTPUT`. Of a build for this
// machine alone, `node scripts/package.mjs ../zig-out OUTPUT`, it makes two: this package, and that of the library.
//
// One package for each platform, with the library alone, and this package, which asks for all of them as optional
// dependencies: npm installs the one whose os, cpu and libc fit. Those for Android are for JavaScript that runs there;
// an app's build runs elsewhere, and takes the archive out of a package for every platform. The version is that of the
// release. The sources become one file, with what they depend on, since finding and reading many takes most of the time
// of an import.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const project = resolve(here, "..");
const [release, output] = process.argv.slice(2).map((path) => resolve(path));
if (!output) {
  console.error("usage: node scripts/package.mjs RELEASE OUTPUT");
  process.exit(2);
}

const isRelease = existsSync(join(release, "manifest.json"));
const manifest = isRelease ? JSON.parse(readFileSync(join(release, "manifest.json"), "utf8")) : manifestOfBuild();
const source = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
const { license } = source;
const legal = ["LICENSE", "THIRD_PARTY.md"].map((name) => join(project, name));

const MODULE = "elizainference.wasm";
// Entries for browsers whose module has fewer languages.
const smaller = ["schemas", "regexes"];
const smallerModule = (some) => MODULE.replace(".", `-${some}.`);

mkdirSync(output, { recursive: true });
const androidProcessors = { "arm64-v8a": "arm64", "armeabi-v7a": "arm", x86_64: "x64" };
const platforms = manifest.files.filter((file) => file.target && platformOf(file));
const optionalDependencies = Object.fromEntries(platforms.map((file) => [packagePlatform(file), manifest.version]));
packageAndroid();
packageBinding();

/** Of what `zig build -Doptimize=fast` and `zig build wasm` left, for this machine. */
function manifestOfBuild() {
  const version = readFileSync(join(project, "build.zig.zon"), "utf8").match(/\.version = "([^"]+)"/)[1];
  const from = { win32: "bin/elizainference.dll", darwin: "lib/libelizainference.dylib" }[process.platform];
  const library = from ?? "lib/libelizainference.so";
  const isMusl = process.platform === "linux" && !process.report.getReport().header.glibcVersionRuntime;
  const platform = `${process.platform}-${process.arch}${isMusl ? "-musl" : ""}`;
  return { version, files: [{ path: `lib/${platform}/${basename(library)}`, from: library, target: platform }] };
}

/** As Node.js names it: its folder in the release, but for Android; undefined if the file is no package's. */
function platformOf(file) {
  const folder = basename(dirname(file.path));
  if (file.path.startsWith("lib/")) return folder;
  if (file.path === `android/jniLibs/${folder}/libelizainference.so`) return `android-${androidProcessors[folder]}`;
}

function packagePlatform(file) {
  const platform = platformOf(file);
  const [os, cpu, musl] = platform.split("-");
  const libc = os === "linux" ? { libc: [musl ?? "glibc"] } : {};
  const name = `@${source.name}/${platform}`;
  const description = `The native library of ${source.name} for ${platform}`;
  pack({ name, version: manifest.version, description, license, os: [os], cpu: [cpu], ...libc }, (folder) =>
    cpSync(join(release, file.from ?? file.path), join(folder, basename(file.path))),
  );
  return name;
}

/** What Gradle takes: a folder as a Maven repository has it. */
function packageAndroid() {
  const name = `@${source.name}/android`;
  const files = manifest.files.filter((file) => file.path.startsWith("maven/"));
  if (files.length === 0) return;
  const description = `The Android archive of ${source.name}: maven { url = uri("node_modules/${name}/maven") }`;
  pack({ name, version: manifest.version, description, license }, (folder) => {
    for (const file of files) cpSync(join(release, file.path), join(folder, file.path));
  });
}

function packageBinding() {
  const { dependencies, devDependencies, scripts, imports, ...published } = source;
  const conditions = { bun: "./dist/bun.js", node: "./dist/node.js", deno: "./dist/node.js", default: "./dist/web.js" };
  const entry = { types: "./dist/index.d.ts", ...conditions };
  const exports = { ".": entry };
  for (const some of smaller) exports[`./${some}`] = { ...entry, default: `./dist/web-${some}.js` };
  for (const name of [MODULE, ...smaller.map(smallerModule)]) exports[`./${name}`] = `./dist/${name}`;
  // A registry has no package of a build that was not released.
  const platforms = isRelease ? { optionalDependencies } : {};
  const made = { module: entry.default, types: entry.types, exports, ...platforms };
  pack({ ...published, ...made, version: manifest.version }, (folder) => {
    const dist = join(folder, "dist");
    for (const [target, name] of [
      ["bun", "bun"],
      ["node", "node"],
      ["browser", "web"],
    ]) {
      // Not minified: what a program prints before an uncaught error is the line that threw it.
      const bundle = ["build", "src/index.ts", "--target", target, "--sourcemap=linked"];
      run("node", ["scripts/bun.mjs", ...bundle, "--outdir", dist, "--entry-naming", `${name}.[ext]`]);
      nameSources(dist, `${name}.js.map`);
    }
    cpSync(join(release, "wasm"), dist, { recursive: true });
    for (const some of smaller) {
      // The same but for which module it fetches, in words that bundlers find.
      const [before, after, ...more] = readFileSync(join(dist, "web.js"), "utf8").split(`"./${MODULE}"`);
      if (after === undefined || more.length > 0) throw new Error(`web.js does not name ${MODULE} once`);
      writeFileSync(join(dist, `web-${some}.js`), `${before}"./${smallerModule(some)}"${after}`);
    }
    run("node", [
      join("node_modules", "typescript", "bin", "tsc"),
      ...["--project", "scripts/declarations.tsconfig.json", "--outDir", dist],
    ]);
    cpSync(join(here, "README.md"), join(folder, "README.md"));
  });
}

/** Sources by their place in this package, not by that of the checkout: the map is the same wherever it is made. */
function nameSources(dist, file) {
  const map = JSON.parse(readFileSync(join(dist, file), "utf8"));
  map.sources = map.sources.map((path) => `../${relative(here, resolve(dist, path)).replaceAll("\\", "/")}`);
  writeFileSync(join(dist, file), JSON.stringify(map));
}

/** Writes the .tgz of a package whose files `fill` puts into a folder. */
function pack(description, fill) {
  const folder = mkdtempSync(join(tmpdir(), "eliza-inference-"));
  try {
    writeFileSync(join(folder, "package.json"), `${JSON.stringify(description, null, 2)}\n`);
    fill(folder);
    for (const path of legal) cpSync(path, join(folder, basename(path)));
    run("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", output, folder]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function run(command, parameters) {
  const shell = process.platform === "win32";
  execFileSync(command, parameters, { cwd: here, stdio: ["ignore", "ignore", "inherit"], shell });
}
