//! The conformance cases, as far as the crate has what they use: kinds of constraints with their plain options, and the verbs of
//! a text. tests/conformance/README.md describes them.

mod json;

use std::path::Path;
use std::{fs, str};

use eliza_inference::{
    sys, Allowed, Budget, Constraint, Error, JsonOptions, JsonOrder, JsonSpace, Matcher, Vocabulary,
};
use json::Json;

const CASE_KEYS: [&str; 7] = ["name", "decisions", "vocabulary", "constraint", "steps", "error", "expect"];
const RUN_MIN: usize = 600;

#[test]
fn cases() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/conformance");
    let (mut run, mut problems) = (0, Vec::new());
    for part in ["token_tries", "recognizers"] {
        for entry in fs::read_dir(folder.join(part)).unwrap() {
            let path = entry.unwrap().path();
            let file = Json::read(&fs::read_to_string(&path).unwrap());
            for case in file.get("cases").unwrap().items() {
                if !case.members().iter().all(|(key, _)| CASE_KEYS.contains(&key.as_str())) {
                    continue;
                }
                match run_case(case) {
                    Ok(Outcome::Run) => run += 1,
                    Ok(Outcome::NotServed) => {}
                    Err(problem) => problems.push(format!("{path:?}: {}: {problem}", case.get("name").unwrap().text())),
                }
            }
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
    println!("{run} cases");
    assert!(run >= RUN_MIN, "only {run} cases were run");
}

enum Outcome {
    Run,
    NotServed,
}

fn run_case(case: &Json) -> Result<Outcome, String> {
    let data = case.get("vocabulary").unwrap();
    let tokens = tokens_of(data);
    let vocabulary = match data.members() {
        _ if data.get("model_id").or(data.get("tokenizer")).is_some() => return Ok(Outcome::NotServed),
        members if members[0].0 == "size" => Vocabulary::without_bytes(members[0].1.integer() as usize),
        _ => {
            let (bytes, flags): (Vec<_>, Vec<_>) = tokens.iter().cloned().unzip();
            Vocabulary::with_flags(&bytes, &flags)
        }
    }
    .map_err(|error| error.to_string())?;
    let compiled = compile(&vocabulary, case.get("constraint").unwrap());
    if compiled.is_empty() {
        return Ok(Outcome::NotServed);
    }
    for made in compiled {
        let made = made.and_then(|constraint| Matcher::new(&constraint));
        let mut matcher = match (made, case.get("error")) {
            (Err(error), Some(expected)) => {
                check_error(&error, expected)?;
                continue;
            }
            (Ok(matcher), None) => matcher,
            (Err(error), None) => return Err(error.to_string()),
            (Ok(_), Some(expected)) => return Err(format!("nothing failed, expected {}", expected.write())),
        };
        check_state(&mut matcher, &vocabulary, case.get("expect"))?;
        for step in case.get("steps").map_or(&[][..], Json::items) {
            if !take(&mut matcher, step, &tokens)? {
                return Ok(Outcome::NotServed);
            }
            check_state(&mut matcher, &vocabulary, step.get("expect"))?;
        }
    }
    Ok(Outcome::Run)
}

/// One constraint for each of the payloads of a token trie, one for any other; none of what the crate has no option for.
fn compile(vocabulary: &Vocabulary, data: &Json) -> Vec<Result<Constraint, Error>> {
    let budget = Budget::default();
    let (kind, value) = &data.members()[0];
    let is_plain = data.members().len() == 1;
    let text = || String::from_utf8(octets(value)).unwrap();
    let made = match kind.as_str() {
        "token_trie" => {
            let payloads = value.items().iter().map(octets);
            return payloads.map(|payload| Constraint::token_trie(vocabulary, &payload)).collect();
        }
        "choices" if is_plain => {
            Constraint::choices(vocabulary, &value.items().iter().map(octets).collect::<Vec<_>>(), &budget)
        }
        "regex" if is_plain => Constraint::regex(vocabulary, &text(), &budget),
        "grammar" if is_plain => Constraint::lark(vocabulary, &text(), &budget),
        "gbnf" if is_plain => Constraint::gbnf(vocabulary, &text(), &budget),
        "tags" if is_plain => Constraint::tags(vocabulary, &octets(value), &budget),
        "json_schema" => match json_options(data) {
            Some(options) => Constraint::json_schema(vocabulary, &schema_text(value), &options, &budget),
            None => return Vec::new(),
        },
        _ => return Vec::new(),
    };
    vec![made]
}

fn json_options(data: &Json) -> Option<JsonOptions> {
    let mut options = JsonOptions::default();
    for (key, value) in &data.members()[1..] {
        match key.as_str() {
            "space" => {
                options.space = match value.text() {
                    "loose" => JsonSpace::Loose,
                    "compact" => JsonSpace::Compact,
                    "spaced" => JsonSpace::Spaced,
                    _ => JsonSpace::Any,
                }
            }
            "order" => options.order = if value.text() == "any" { JsonOrder::Any } else { JsonOrder::Declared },
            "lenient" => options.lenient = *value == Json::Bool(true),
            _ => return None,
        }
    }
    Some(options)
}

/// False for a verb that is unsupported.
fn take(matcher: &mut Matcher, step: &Json, tokens: &[(Vec<u8>, u8)]) -> Result<bool, String> {
    let number = |key: &str| step.get(key).unwrap().integer();
    let done = match step.get("do").unwrap().text() {
        "accept" => {
            let accepted = matcher.accept(number("token") as i32);
            if let Ok(accepted) = accepted {
                let results = step.get("result").map_or(&[][..], Json::items);
                let refused = results.contains(&Json::String("refused".to_owned()));
                check("accepted", &accepted, &!refused)?;
            }
            accepted.map(|_| ())
        }
        "text" => {
            let count = step.get("count").map_or(1, Json::integer) as usize;
            for byte in step.get("text").unwrap().text().repeat(count).into_bytes() {
                let token = tokens.iter().position(|token| *token == (vec![byte], 0)).unwrap();
                let accepted = matcher.accept(token as i32).map_err(|error| error.to_string())?;
                check("accepted", &accepted, &true)?;
            }
            Ok(())
        }
        "rollback" => matcher.rollback(number("n") as usize),
        "reset" => matcher.reset(),
        "activate" => matcher.activate(step.get("path").unwrap().text()),
        "deactivate" => matcher.deactivate(),
        _ => return Ok(false),
    };
    match (done, step.get("error")) {
        (Ok(()), None) => Ok(true),
        (Err(error), Some(expected)) => check_error(&error, expected).map(|()| true),
        (Err(error), None) => Err(error.to_string()),
        (Ok(()), Some(expected)) => Err(format!("nothing failed, expected {}", expected.write())),
    }
}

fn check_state(matcher: &mut Matcher, vocabulary: &Vocabulary, expected: Option<&Json>) -> Result<(), String> {
    for (key, value) in expected.map_or(&[][..], Json::members) {
        if key == "forced_bytes" {
            let found = matcher.forced_bytes().map_err(|error| error.to_string())?;
            check(key, &found, &octets(value))?;
        } else if let Some(found) = look(matcher, vocabulary, key).map_err(|error| error.to_string())? {
            check(key, &found, value)?;
        }
    }
    Ok(())
}

/// None for what is unsupported.
fn look(matcher: &mut Matcher, vocabulary: &Vocabulary, key: &str) -> Result<Option<Json>, Error> {
    Ok(Some(match key {
        "active" => Json::Bool(matcher.is_active()?),
        "can_stop" => Json::Bool(matcher.can_stop()?),
        "constrained" => Json::Bool(matcher.allowed()? != Allowed::All),
        "forced" => numbers(&matcher.forced()?),
        "leaf" => match matcher.leaf() {
            Some(name) => Json::String(str::from_utf8(name).unwrap().to_owned()),
            None => Json::Null,
        },
        "allowed" => {
            let mut words = vec![0; (vocabulary.n_tokens() + 31) / 32];
            matcher.fill_bitmap(&mut words)?;
            let ids: Vec<i32> =
                (0..32 * words.len()).filter(|id| words[id / 32] >> (id % 32) & 1 == 1).map(|id| id as i32).collect();
            match matcher.allowed()? {
                Allowed::All => Json::String("all".to_owned()),
                Allowed::List(listed) => {
                    assert_eq!(listed, ids);
                    numbers(listed)
                }
                Allowed::Bitmap(lent) => {
                    assert_eq!(lent, words);
                    numbers(&ids)
                }
            }
        }
        _ => return Ok(None),
    }))
}

fn numbers(values: &[i32]) -> Json {
    Json::Array(values.iter().map(|value| Json::Number(value.to_string())).collect())
}

fn check<T: std::fmt::Debug + PartialEq>(what: &str, actual: &T, expected: &T) -> Result<(), String> {
    if actual == expected {
        return Ok(());
    }
    Err(format!("{what} is {actual:?}, expected {expected:?}"))
}

fn check_error(error: &Error, expected: &Json) -> Result<(), String> {
    let status = match expected.get("status").unwrap().text() {
        "ELIZA_ERR_INVALID_ARG" => sys::ELIZA_ERR_INVALID_ARG,
        "ELIZA_ERR_PAYLOAD" => sys::ELIZA_ERR_PAYLOAD,
        "ELIZA_ERR_LIMIT" => sys::ELIZA_ERR_LIMIT,
        "ELIZA_ERR_MODEL_MISMATCH" => sys::ELIZA_ERR_MODEL_MISMATCH,
        "ELIZA_ERR_UNKNOWN_PATH" => sys::ELIZA_ERR_UNKNOWN_PATH,
        "ELIZA_ERR_GRAMMAR" => sys::ELIZA_ERR_GRAMMAR,
        other => return Err(format!("{other} is in no table of this test")),
    };
    check("status", &error.status, &status)?;
    check("message", &error.message.as_str(), &expected.get("message").unwrap().text())
}

fn tokens_of(vocabulary: &Json) -> Vec<(Vec<u8>, u8)> {
    let mut tokens = Vec::new();
    if vocabulary.get("single_bytes").is_some() {
        tokens.extend((0..=255).map(|byte| (vec![byte], 0)));
    }
    for token in vocabulary.get("tokens").map_or(&[][..], Json::items) {
        let flags = token.get("flags").map_or(&[][..], Json::items).iter().map(|flag| match flag.text() {
            "special" => sys::ELIZA_TOKEN_SPECIAL as u8,
            "end_of_generation" => sys::ELIZA_TOKEN_END_OF_GENERATION as u8,
            _ => sys::ELIZA_TOKEN_UNUSED as u8,
        });
        tokens.push((octets(token), flags.sum()));
    }
    tokens
}

/// Of a text, a piece, or a list of these.
fn octets(value: &Json) -> Vec<u8> {
    match value {
        Json::Array(items) => return items.iter().flat_map(octets).collect(),
        Json::String(text) => return text.as_bytes().to_vec(),
        _ => {}
    }
    let piece = match value.get("hex") {
        Some(hex) => {
            let digits = hex.text();
            (0..digits.len() / 2).map(|i| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).unwrap()).collect()
        }
        None => value.get("text").unwrap().text().as_bytes().to_vec(),
    };
    piece.repeat(value.get("count").map_or(1, Json::integer) as usize)
}

fn schema_text(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        _ => value.write(),
    }
}
