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
  if (["kind", "vocabulary", "example"].includes(id)) await page.selectOption(`#${id}`, value);
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
