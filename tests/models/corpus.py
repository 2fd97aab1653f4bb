"""The corpus of the action router: what people write to an assistant, and the action that answers it.

A message is a carrier ("please {}", "{} thanks"), around a sentence of the action, whose slots are
filled from the lists below. Messages are drawn with a fixed seed. The filled sentences that are held
out are never seen in training, under any carrier; the same sentences with other fillers are. `paraphrases.tsv` has messages whose
sentences are not in this file at all.
"""

import itertools
import random
import re
from dataclasses import dataclass
from pathlib import Path

PROMPT = "User: {message}\nAction:"
"""What the model reads. It answers with " NAME" and ends the text."""

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Example:
    message: str
    action: str

    @property
    def prompt(self) -> str:
        return PROMPT.format(message=self.message)

    @property
    def answer(self) -> str:
        return " " + self.action


def action_names() -> list[str]:
    """The actions in the order of `actions.txt`."""
    return (HERE / "actions.txt").read_text(encoding="utf-8").split()


def make_corpus(seed: int, per_action: int, n_held_out: int) -> tuple[list[Example], list[Example]]:
    """Draws the training examples, and `n_held_out` examples whose filled sentences are not among them.

    Each action has the same number of held-out messages (give or take one), and at most `per_action`
    distinct messages for training: fewer if its sentences do not yield more.
    """
    rng = random.Random(seed)
    names = action_names()
    training: list[Example] = []
    held_out: list[Example] = []
    for index, action in enumerate(names):
        n_held = n_held_out // len(names) + (index < n_held_out % len(names))
        kept, held = _split_sentences(rng, action, n_held)
        held_out += [Example(_vary(rng, filled), action) for filled in held]
        training += [Example(message, action) for message in _draw_messages(rng, kept, per_action)]
    rng.shuffle(training)
    rng.shuffle(held_out)
    return training, held_out


def read_examples(path: Path) -> list[Example]:
    """Reads lines of message, tab, action."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [Example(*line.split("\t")) for line in lines]


def write_examples(path: Path, examples: list[Example]) -> None:
    path.write_text("".join(f"{e.message}\t{e.action}\n" for e in examples), encoding="utf-8")


def _split_sentences(rng: random.Random, action: str, n_held: int) -> tuple[list[list[str]], list[str]]:
    """All fillings of each sentence, less those held out; and `n_held` that are held out."""
    kept = [_fillings(sentence) for sentence in SENTENCES[action]]
    for fillings in kept:
        rng.shuffle(fillings)
    several = [fillings for fillings in kept if len(fillings) > 1]
    rng.shuffle(several)
    held = [several[i % len(several)].pop() for i in range(n_held)]
    return kept, held


def _fillings(sentence: str) -> list[str]:
    slots = re.findall(r"\{(\w+)\}", sentence)
    pattern = re.sub(r"\{\w+\}", "{}", sentence)
    return [pattern.format(*values) for values in itertools.product(*(FILLERS[slot] for slot in slots))]


def _draw_messages(rng: random.Random, sentences: list[list[str]], n: int) -> list[str]:
    """Distinct messages, from each sentence in turn."""
    messages: dict[str, None] = {}
    for attempt in range(20 * n):
        if len(messages) == n:
            break
        messages[_vary(rng, rng.choice(sentences[attempt % len(sentences)]))] = None
    return list(messages)


def _vary(rng: random.Random, sentence: str) -> str:
    text = rng.choice(CARRIERS).format(sentence) if rng.random() < 0.5 else sentence
    if rng.random() < 0.3:
        text = text[0].upper() + text[1:]
    if rng.random() < 0.15:
        text += rng.choice(".!?")
    return text


CARRIERS = [
    "please {}",
    "{} please",
    "{}, thanks",
    "hey, {}",
    "ok, {}",
    "can you {}",
    "could you {}?",
    "I need you to {}",
    "assistant: {}",
    "{} when you have a moment",
    "quick one: {}",
]

FILLERS = {
    "person": [
        "Nadia", "Oskar", "Yuki", "Samira", "Felix", "Ingrid", "Mateo", "Wren", "Kofi", "Zoe",
        "my sister", "the landlord", "our accountant", "the plumber", "grandma", "Dr. Weber", "the new hire",
    ],
    "doc": [
        "the lease", "the tax form", "the release plan", "the grant proposal", "my cover letter", "the floor plan",
        "the survey results", "the recipe", "the travel expenses", "the audit", "the press note", "the test log",
    ],
    "chore": [
        "water the plants", "renew my passport", "fix the bike", "pay the rent", "clean the garage", "order new filters",
        "back up the laptop", "pick up the parcel", "call the dentist", "review the lease", "wash the car",
    ],
    "gathering": [
        "dinner", "the dentist visit", "a stand-up", "the parents' evening", "the interview", "a video call",
        "the book club", "the retro", "the workshop", "coffee",
    ],
    "when": [
        "today", "tomorrow morning", "on Tuesday", "on Thursday", "next month", "this weekend", "at 8", "at half past three",
        "after lunch", "in two weeks", "before Sunday", "later",
    ],
    "room": ["garden", "hiking", "finance", "frontend", "music club", "ops", "book-club", "chess", "family", "lobby", "research"],
    "topic": [
        "volcanoes", "sourdough", "the tides", "electric bikes", "Roman roads", "night trains", "mushrooms", "chess openings",
        "the northern lights", "old maps", "whales", "compost", "the price of copper", "lighthouses",
    ],
    "language": ["Polish", "Portuguese", "Korean", "Swedish", "Greek", "Turkish", "Dutch"],
    "phrase": ["good night", "where is the station", "this sentence", "the menu", "the sign", "my last message", "thank you"],
    "amount": ["3", "12", "50", "0.5", "200", "7"],
    "coin": ["tokens", "SOL", "ETH", "USDC", "coins"],
    "field": ["phone number", "email address", "birthday", "street address", "job title"],
    "setting": ["dark mode", "notifications", "the font size", "auto-save", "my time zone", "the sound alerts"],
    "band": ["Miles Davis", "the Cure", "Bach", "Nina Simone", "Daft Punk", "some blues", "techno", "lo-fi", "film scores"],
    "span": ["3 minutes", "a quarter of an hour", "90 seconds", "45 minutes", "two hours", "20 min"],
    "noise": ["hmmmm", "qwerty", "zzz", "...", "lalala", "ugh", "brb", "haha", "x x x", "blah blah"],
}

SENTENCES = {
    "REPLY": [
        "good evening", "hi, nice to meet you", "hello {person} here", "what is your opinion of {topic}?", "thank you so much",
        "how was your day?", "who are you?", "do you like {topic}?", "tell me something funny about {topic}", "are you awake?",
        "I feel tired {when}", "let's chat about {topic}", "explain {topic} to me", "why are {topic} so interesting?",
        "nice weather {when}, isn't it?", "you are very helpful", "what should I cook {when}?",
        "I had a long day with {person}", "can I ask you something about {topic}?", "good to see you",
        "how do {topic} work?",
    ],
    "IGNORE": [
        "{noise}", "{noise} {noise}", "{noise} {topic} {noise}", "I was talking to {person}, not you", "{person}, are you there? {noise}",
        "sorry, wrong window, that was for {person}", "this is not meant for you", "stay out of this, {noise}",
        "psst {person}, did you see {doc}?", "{noise}, that was my cat on the keyboard",
        "{person} and I are just chatting here", "don't mind me, {noise}", "{noise} {noise} {noise}",
        "ignore that, it was for {person}", "{noise} wrong chat",
    ],
    "NONE": [
        "no action needed about {doc}", "forget it", "leave {doc} as it is", "nothing to do {when}", "don't do anything {when}",
        "drop it, I changed my mind about {topic}", "no need to {chore} after all", "never mind, {person} has taken care of it",
        "it's fine, just leave it {when}", "nothing, I will {chore} myself",
        "that is all, no more about {doc}", "ok, nothing else {when}", "everything is settled with {person}",
        "skip {doc}, it is not important", "we are done here, nothing to do",
    ],
    "SEND_MESSAGE": [
        "write {person} that I will be late {when}", "send a message to {person}: {doc} is done", "dm {person} about {doc}",
        "text {person} that {gathering} is {when}", "drop {person} a line about {topic}", "message {person} {when}",
        "send {person} a text about {gathering}", "let {person} know that I found {doc}", "tell {person} to {chore}",
        "could {person} get a text from me about {doc}?", "say hi to {person} in a message",
        "ask {person} whether {gathering} is {when}", "reply to {person} that I agree",
        "ping {person} that I am on my way",
    ],
    "SEND_EMAIL": [
        "email {doc} to {person}", "compose an email to {person} about {topic}", "send {person} an email with {doc}",
        "mail {person} {when} about {gathering}", "answer {person} by email", "forward {doc} to {person} by email",
        "write an e-mail saying that {doc} is ready", "email {person} that {gathering} moves",
        "put {doc} in an email for {person}", "reply by mail to {person} about {doc}", "get {person} {doc} via email",
        "send the team an email about {gathering}", "draft a mail for {person} on {topic}",
    ],
    "SEND_TOKEN": [
        "send {amount} {coin} to {person}", "transfer {amount} {coin} to {person}", "pay {person} {amount} {coin}",
        "give {person} {amount} {coin}", "tip {person} {amount} {coin}", "wire {amount} {coin} to {person} {when}",
        "move {amount} {coin} into the wallet of {person}",
        "I want to pay {person} {amount} {coin}", "{person} should receive {amount} {coin} from me",
        "donate {amount} {coin} to {person}", "hand {person} {amount} {coin} from my wallet",
        "settle my debt with {person}: {amount} {coin}",
    ],
    "SEND_REMINDER": [
        "remind me to {chore}", "remind me {when} to {chore}", "remind {person} to {chore}", "send {person} a reminder about {doc}",
        "set a reminder: {chore} {when}", "nudge me {when} about {doc}", "don't let me forget to {chore}",
        "I must not forget {doc} {when}, remind me", "give {person} a reminder {when}",
        "make sure I remember to {chore} {when}", "reminder for {person}: {gathering} {when}",
        "I want a reminder to {chore}", "remind everyone about {gathering}", "in case I forget: remind me of {doc}",
    ],
    "CREATE_TASK": [
        "add {chore} to my to-do list", "create a task: {chore}", "new task for {person}: {chore}", "make a todo to {chore} {when}",
        "put {doc} on the task list", "add a task about {doc}", "I have to {chore}, write that down as a task",
        "open a ticket to {chore}",
        "there is one more thing to do: {chore}", "note a to-do: {chore}", "create a to-do item for {doc}",
        "{person} needs to {chore}, make it a task", "track '{chore}' as a new task", "add to my tasks: {chore}",
    ],
    "CREATE_EVENT": [
        "schedule {gathering} with {person} {when}", "put {gathering} in my calendar {when}", "book {gathering} {when}",
        "set up {gathering} with {person}", "plan {gathering} for {when}", "add an event: {gathering} {when}",
        "make an appointment with {person} {when}", "invite {person} to {gathering} {when}",
        "I meet {person} {when}, add it to the calendar", "reserve {when} for {gathering}",
        "find a slot for {gathering} {when} and book it", "save the date: {gathering} {when}",
        "arrange {gathering} with {person} {when}",
    ],
    "CREATE_ROOM": [
        "create a channel named {room}", "make a new room for {room}", "open a room about {topic}", "start a {room} channel",
        "set up a group chat called {room}", "we need a new {room} room", "create the {room} room with {person}",
        "add a channel for {topic}", "open up a {room} group", "I want a room where we talk about {topic}",
        "launch a channel called {room}", "build a new room, call it {room}",
    ],
    "UPDATE_TASK": [
        "change the task '{chore}' to {when}", "rename my task about {doc}", "mark '{chore}' as done", "set the task {chore} to high priority",
        "assign the task about {doc} to {person}", "push the deadline of the {doc} task to {when}", "the task {chore} is now due {when}",
        "edit the todo '{chore}'", "tick off {chore} on my list",
        "move the task about {doc} to {when}", "I finished the task '{chore}'", "make '{chore}' a low priority task",
        "postpone the todo {chore} until {when}", "the task about {doc} now belongs to {person}",
        "task {chore}: change the note",
    ],
    "UPDATE_CONTACT": [
        "change the {field} of {person}", "{person} has a new {field}", "update {person}'s {field}", "edit the contact {person}",
        "correct the {field} for {person} in my contacts", "{person} moved, save the new {field}", "replace {person}'s old {field}",
        "save a different {field} for {person}", "{person}'s {field} is wrong, fix it",
        "here is the new {field} of {person}", "{person} changed the {field}, adjust my contacts",
        "modify the entry of {person} in the address book",
    ],
    "UPDATE_SETTINGS": [
        "turn on {setting}", "turn off {setting}", "change {setting}", "switch the app to {language}", "set {setting} in the preferences",
        "disable {setting} {when}", "enable {setting}", "open the settings and adjust {setting}", "use {language} for the interface",
        "I want {setting} switched off", "make {setting} different", "my preferences: {setting} on",
        "reset {setting} to the default", "please activate {setting} in settings",
        "the interface should be in {language}",
    ],
    "DELETE_TASK": [
        "delete the task '{chore}'", "remove {chore} from my to-do list", "get rid of the todo about {doc}", "erase my task {chore}",
        "take {doc} off the task list", "throw away the task for {person}", "drop the task {chore}, it is obsolete",
        "I don't need the task {chore}, remove it", "the to-do about {doc} can go", "strike {chore} off my tasks",
        "wipe the finished tasks about {doc}", "no more task to {chore}, delete it",
    ],
    "DELETE_EVENT": [
        "cancel {gathering} {when}", "delete {gathering} from the calendar", "remove {gathering} with {person} from my calendar",
        "call off {gathering} with {person}", "take {gathering} out of my schedule", "clear the appointment with {person} {when}",
        "scrap the event {when}",
        "{gathering} is off, delete it", "I can't make it {when}, cancel {gathering}",
        "the meeting with {person} will not happen, remove it", "free up {when}: cancel {gathering}",
        "erase {gathering} from my calendar",
    ],
    "LIST_TASKS": [
        "show me my tasks", "list all tasks for {person}", "which tasks are open {when}?", "what is on my to-do list {when}?",
        "what do I still have to do {when}?", "give me the open todos about {doc}", "display the task list", "any tasks left {when}?",
        "what are {person}'s tasks?",
        "read out my todos", "how many tasks are open?", "tasks for {when}", "let me see every task about {doc}",
        "which to-dos does {person} have?", "overview of my tasks please",
    ],
    "LIST_EVENTS": [
        "what is in my calendar {when}?", "show my appointments {when}", "do I have meetings {when}?", "list the events {when}",
        "which events do I share with {person}?", "when is {gathering}?", "what's coming up {when}?", "show the schedule {when}",
        "am I free {when}?",
        "how does my calendar look {when}?", "anything planned {when}?", "read me my appointments {when}",
        "agenda for {when}", "what meetings are there with {person}?", "do I have something {when}?",
    ],
    "LIST_CONTACTS": [
        "list my contacts", "show everyone in my address book", "which contacts do I have at {room}?", "who do I know in {room}?",
        "show me the contact list", "give me all contacts with a {field}", "display my contacts named {person}",
        "open the address book", "whose {field} do I have?",
        "who are my contacts?", "let me see all the people I have saved", "print my contacts",
        "everyone from {room} in my contacts", "how many contacts do I have?",
    ],
    "SEARCH_WEB": [
        "search the internet for {topic}", "google {topic}", "look up {topic} on the web", "find websites about {topic}",
        "what does the web say about {topic}?", "do a web search on {topic}", "find news about {topic} online", "browse for {topic}",
        "check the internet for {topic}", "is there anything online about {topic}?", "web search: {topic}",
        "find me a page on {topic} on the net", "see what you find online on {topic}",
    ],
    "SEARCH_MESSAGES": [
        "find the chat where {person} mentioned {topic}", "search my messages for {doc}", "what did {person} write about {topic}?",
        "look through my chats for {gathering}", "which message from {person} has {doc}?", "find what {person} said {when}",
        "search the conversation with {person} for {topic}",
        "when did {person} mention {doc} in a message?", "in which chat did we discuss {topic}?",
        "find the message about {doc}", "go through my messages from {person}",
        "did {person} ever write me about {topic}?",
    ],
    "SEARCH_KNOWLEDGE": [
        "search the knowledge base for {topic}", "check our documents for {topic}", "what is in the wiki about {topic}?",
        "look up {doc} in our notes", "find the handbook page on {topic}", "do our docs mention {topic}?",
        "search my stored notes for {topic}", "consult the knowledge base on {doc}",
        "is {topic} covered in our knowledge base?", "what do the internal docs say on {topic}?",
        "look in the handbook for {doc}", "find {topic} in the company wiki",
        "anything about {doc} in the notes we keep?",
    ],
    "GENERATE_IMAGE": [
        "draw {topic}", "make an image of {topic}", "paint a picture of {person} with {topic}", "generate a picture of {topic}",
        "sketch {topic} in pencil", "create an illustration of {topic}", "I want a photo-like image of {topic}", "design a logo with {topic}",
        "show me a drawing of {topic}", "a picture of {topic}, please", "can I get an image with {topic}?",
        "produce artwork showing {topic}", "render {topic} as a watercolour",
    ],
    "TRANSLATE_TEXT": [
        "translate {phrase} into {language}", "how do I say '{phrase}' in {language}?", "what is {phrase} in {language}?",
        "give me {doc} in {language}", "put {phrase} into {language}", "I need a {language} translation of {doc}",
        "translate '{phrase}' from {language}",
        "say {phrase} in {language}", "what's the {language} word for {topic}?", "turn {doc} into {language}",
        "how would a {language} speaker say {phrase}?", "I want {phrase} in {language}",
    ],
    "SUMMARIZE_CONVERSATION": [
        "summarize our conversation", "sum up what {person} and I talked about", "give me a recap of the chat about {topic}",
        "summary of the discussion with {person}", "what were the main points of the conversation {when}?",
        "recap the thread on {doc}", "make a short summary of the chat in {room}", "tl;dr of the talk about {topic}",
        "what did we discuss so far? keep it brief", "brief me on the conversation with {person}",
        "condense this discussion", "wrap up the chat about {topic} in three lines",
        "I missed the talk in {room}, give me a summary",
    ],
    "FOLLOW_ROOM": [
        "follow the {room} room", "join the {room} channel", "subscribe to {room}", "keep me posted on the {room} room",
        "take part in the {room} channel", "watch the {room} room from now on", "start following {room}",
        "I want to follow {room}", "add me to the {room} room", "sign me up for the {room} channel",
        "let me in on the {room} channel", "I'd like to be part of {room}",
    ],
    "UNFOLLOW_ROOM": [
        "unfollow the {room} room", "leave the {room} channel", "unsubscribe from {room}", "stop following {room}",
        "I no longer care about the {room} room, leave it", "quit the {room} channel", "don't follow {room} any more",
        "get me out of {room}", "remove me from the {room} channel", "I want to leave the {room} room",
        "no more {room} for me, unfollow it", "take me off the {room} channel",
    ],
    "MUTE_ROOM": [
        "mute the {room} room", "silence the {room} channel", "mute {room} {when}", "no more pings from the {room} room",
        "be quiet in the {room} channel", "hush the {room} channel {when}", "stop talking in the {room} room",
        "{room} is too noisy, mute it", "turn off the sound of the {room} room", "shut up in {room} {when}",
        "stay silent in the {room} room", "keep the {room} channel quiet",
    ],
    "UNMUTE_ROOM": [
        "unmute the {room} room", "unmute {room} {when}", "you may speak in the {room} room again", "turn the sound of {room} back on",
        "end the silence in the {room} channel", "let me hear the {room} channel again", "take {room} off mute",
        "talk in the {room} room again", "turn {room} on again, it was muted", "stop muting the {room} channel",
        "{room} can be loud again, unmute it", "lift the mute from {room}",
    ],
    "PLAY_MUSIC": [
        "play {band}", "put on {band}", "play a song by {band}", "I want to listen to {band}", "start my playlist with {band}",
        "some music {when}, maybe {band}", "queue {band}", "play music for {gathering}", "shuffle {band}",
        "let me hear {band}", "I am in the mood for {band}", "how about {band}?", "turn on some music by {band}",
        "next song please, something like {band}",
    ],
    "SET_TIMER": [
        "set a timer for {span}", "start a {span} timer", "count down {span}", "timer {span}", "tell me when {span} are over",
        "wake me in {span}", "set an alarm in {span}", "give me {span} on the clock", "time {span} for the eggs",
        "timer please, {span}", "ring in {span}", "alert me after {span}", "let me know when {span} have passed",
        "I need a timer of {span}", "{span} timer for the tea",
    ],
}
