//! Chooses a name with any engine's logits; a real program gets them from its model.
//!
//! prints: SEND_MAIL after 1 pass

use eliza_inference::{Budget, Constraint, Matcher, Sampling, Vocabulary};

const TOKENS: [&str; 6] = ["SEND", "_M", "ESSAGE", "AIL", " maybe", "</s>"];

fn run_model() -> [f32; TOKENS.len()] {
    // The best token of all continues no name, and token 3 is the best that does.
    [0.0, 0.0, 1.0, 5.0, 9.0, 0.0]
}

fn main() -> Result<(), eliza_inference::Error> {
    let vocabulary = Vocabulary::new(&TOKENS, &[5])?;
    let names = ["SEND_MESSAGE", "SEND_MAIL"];
    let mut matcher = Matcher::new(&Constraint::choices(&vocabulary, &names, &Budget::default())?)?;
    let (mut text, mut passes) = (Vec::new(), 0);
    while !matcher.can_stop()? {
        let mut tokens = matcher.forced()?; // tokens without a choice need no model
        if tokens.is_empty() {
            passes += 1;
            tokens.push(matcher.sample(&run_model(), &Sampling::GREEDY)?);
        }
        for token in tokens {
            matcher.accept(token)?;
            text.extend_from_slice(vocabulary.bytes(token));
        }
    }
    println!("{} after {passes} pass", String::from_utf8_lossy(&text));
    Ok(())
}
