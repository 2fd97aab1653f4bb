// Uses the page as a reader does: `node site.mjs URL CHROMIUM [PICTURES]`. Prints what it found, as JSON, and takes the
// pictures of the README if it is given a folder for them.
import { join } from "node:path";
import { chromium } from "playwright-core";

const [url, executablePath, pictures] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath,
  args: [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ],
});
const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
const errors = [];
page.on("pageerror", (error) => errors.push(String(error)));
page.on("console", (message) => message.type() === "error" && errors.push(message.text()));

/** Waits until the page shows what its fields say. */
const settle = () => page.waitForFunction(() => document.body.dataset.ready === location.hash);
const texts = (selector) => page.locator(selector).allTextContents();
const set = async (id, value) => {
  if (["kind", "vocabulary", "example", "space", "order"].includes(id)) await page.selectOption(`#${id}`, value);
  else await page.fill(`#${id}`, value);
  await settle();
};
const found = {};

await page.goto(url);
await settle();
await page.waitForFunction(() => [...document.querySelectorAll("[data-example]")].every((each) => each.dataset.ready));
found.guides = await page
  .locator("[data-example]")
  .evaluateAll((all) => all.map((each) => [each.dataset.example, each.dataset.ready]));
found.first = { tokens: await texts("#tokens .chip"), verdict: (await texts("#verdict"))[0] };
const clip = { x: 0, y: 0, width: 1280 };
if (pictures) await page.screenshot({ path: join(pictures, "page.png"), clip: { ...clip, height: 820 } });

found.programs = [];
for (const name of await page.locator("#example option").allTextContents()) {
  await set("example", name);
  const of = { name };
  for (const language of ["python", "typescript", "c"]) {
    await page.locator(`#copy [data-language=${language}]`).click();
    of[language] = await page.locator("#program").textContent();
  }
  found.programs.push(of);
}
await set("example", "a forecast, as JSON");
await set("space", "compact");
found.compact = (await texts("#tokens .refused")).join("");
found.optionsLink = page.url().includes("space=compact");
await set("source", '{"type": "object",\n "properties": 1,}');
found.jsonFailure = (await texts("#failure .message"))[0];
await set("kind", "regex");
found.switched = [await page.inputValue("#source"), (await texts("#failure .message")).length];
await set("source", "\\d");
await set("text", "");
found.parts = (await texts("#legal .chip")).slice(0, 10).join("");
await set("kind", "schema");
found.switchedBack = await page.inputValue("#source");

await set("kind", "regex");
await set("source", "colou?r: (red|green)");
await set("text", "color");
found.forced = (await texts("#forced .chip")).join("");
await page.locator("#legal .chip").first().click();
await settle();
found.clicked = await page.inputValue("#text");
await set("text", "colour: blue");
found.refused = await texts("#tokens .refused");
const link = page.url();

await set("vocabulary", "o200k_base");
found.large = (await texts("#sizes td"))[0];
await set("kind", "lark");
await set("source", 'start: "a" word\nWORD: /[a-z]+/');
found.failure = (await texts("#failure .message"))[0];
found.place = (await texts("#failure mark"))[0];
if (pictures) await page.screenshot({ path: join(pictures, "error.png"), clip: { ...clip, height: 640 } });

const other = await browser.newPage();
await other.goto(link);
await other.waitForFunction(() => document.body.dataset.ready === location.hash);
found.linked = await other.inputValue("#text");
found.errors = errors;
console.log(JSON.stringify(found));
await browser.close();
