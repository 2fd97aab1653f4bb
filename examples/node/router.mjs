// One of your names, chosen by a model in Node.js: with the packages eliza-inference and koffi.
import { Model } from "eliza-inference";

const model = new Model("tests/models/eliza-router.gguf");
const stream = model.stream();
stream.prefill("User: set a timer for ten minutes\nAction:");
console.log(stream.choose(model.tokenTree(["REPLY", "SEND_EMAIL", "SET_TIMER", "PLAY_MUSIC"]))); // prints: SET_TIMER
stream.close();
model.close();
