// Looks at pages as a reader does, on a desk and on a phone: `node look.mjs URL CHROMIUM [PICTURES]`. Prints what is
// wrong, as JSON, and takes the pictures of site/pictures if it is given a folder for them.
import { createRequire } from "node:module";
import { join } from "node:path";

const { chromium } = createRequire(new URL("../web/", import.meta.url))("playwright-core");
const [url, executablePath, pictures] = process.argv.slice(2);
const args = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"];
const browser = await chromium.launch({ executablePath, args });

const pages = {
  home: "",
  quickstart: "quickstart/python/",
  guide: "guides/native-apps/",
  concepts: "concepts/lr/",
  errors: "errors/",
  schema: "reference/json-schema/",
  tags: "reference/tags/",
  comparison: "compare/",
  c: "api/c/",
  python: "api/python/constraints/",
  typescript: "api/typescript/classes/Matcher/",
};
const pictured = ["home", "quickstart", "errors", "python"];
const wrong = [];
for (const width of [1280, 400]) {
  const page = await browser.newPage({ viewport: { width, height: 900 } });
  page.on("pageerror", (error) => wrong.push(`${page.url()} at ${width}: ${error}`));
  page.on("response", (response) => response.status() < 400 || wrong.push(`${response.url()}: ${response.status()}`));
  page.on("request", (request) => request.url().startsWith(url) || wrong.push(`fetches ${request.url()}`));
  for (const [name, path] of Object.entries(pages)) {
    await page.goto(url + path);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    if (wide > 0) wrong.push(`${name} is ${wide} pixels too wide at ${width}`);
    if ((await page.locator("h1").count()) !== 1) wrong.push(`${name} has not one heading`);
    if (pictures && pictured.includes(name))
      await page.screenshot({ path: join(pictures, `docs-${name}-${width}.png`) });
  }
}
await search(1280);
await browser.close();
console.log(JSON.stringify(wrong));

/** What a reader types into the search field is found. */
async function search(width) {
  const page = await browser.newPage({ viewport: { width, height: 900 } });
  await page.goto(url);
  await page.fill(".md-search__input", "ELIZA_ERR_BUSY");
  const first = page.locator(".md-search-result__item").first();
  await first.waitFor({ state: "attached", timeout: 30000 });
  if (!(await first.innerHTML()).includes("BUSY")) wrong.push("the search does not find ELIZA_ERR_BUSY");
}
