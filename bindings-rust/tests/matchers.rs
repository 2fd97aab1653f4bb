//! What the safe part promises beyond the conformance cases.

use std::sync::atomic::AtomicBool;
use std::thread;

use eliza_inference::{fill_bitmaps, mask_rows, sys, Allowed, Budget, Constraint, JsonOptions, Matcher, Sampling, Vocabulary};

const END: i32 = 256;

fn vocabulary() -> Vocabulary {
    let mut tokens: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    tokens.push(b"</s>".to_vec());
    Vocabulary::new(&tokens, &[END]).unwrap()
}

fn regex(pattern: &str) -> Matcher {
    Matcher::new(&Constraint::regex(&vocabulary(), pattern, &Budget::default()).unwrap()).unwrap()
}

#[test]
fn a_matcher_outlives_what_it_was_made_from() {
    let mut matcher = regex("a+b");
    assert_eq!(matcher.allowed().unwrap(), Allowed::List(&[b'a' as i32]));
    assert!(matcher.accept(b'a' as i32).unwrap());
    assert!(!matcher.accept(b'c' as i32).unwrap());
    assert!(matcher.accept(b'b' as i32).unwrap());
    assert!(matcher.can_stop().unwrap());
    assert_eq!(matcher.allowed().unwrap(), Allowed::List(&[END]));
}

#[test]
fn masked_logits_leave_what_is_legal() {
    let mut matcher = regex("[xy]");
    let mut logits = vec![1.0; END as usize + 1];
    logits[b'y' as usize] = 2.0;
    matcher.mask_logits(&mut logits).unwrap();
    let left: Vec<usize> = (0..logits.len()).filter(|&id| logits[id].is_finite()).collect();
    assert_eq!(left, [b'x' as usize, b'y' as usize]);
    assert_eq!(matcher.sample(&logits, &Sampling::GREEDY).unwrap(), b'y' as i32);
    assert_eq!(matcher.sample(&[0.0], &Sampling::GREEDY).unwrap_err().status, sys::ELIZA_ERR_INVALID_ARG);
}

#[test]
fn a_clone_goes_its_own_way() {
    let mut matcher = regex("a{3}");
    matcher.accept(b'a' as i32).unwrap();
    let mut other = matcher.try_clone().unwrap();
    other.accept(b'a' as i32).unwrap();
    assert_eq!(matcher.forced_bytes().unwrap(), b"aa");
    assert_eq!(other.forced_bytes().unwrap(), b"a");
    other.rollback(2).unwrap();
    assert_eq!(other.forced_bytes().unwrap(), b"aaa");
}

#[test]
fn a_long_run_is_given_whole() {
    assert_eq!(regex("a{1000}").forced_bytes().unwrap(), vec![b'a'; 1000]);
}

#[test]
fn an_error_says_what_and_where() {
    let error = Constraint::regex(&vocabulary(), "a(b", &Budget::default()).unwrap_err();
    assert_eq!(error.status, sys::ELIZA_ERR_GRAMMAR);
    assert!(error.message.starts_with("at byte "), "{error}");
    assert!(error.to_string().ends_with("(ELIZA_ERR_GRAMMAR)"), "{error}");
    let cancelled = AtomicBool::new(true);
    let budget = Budget { cancel: Some(&cancelled), ..Budget::default() };
    let error = Constraint::lark(&vocabulary(), "start: /a+/", &budget).unwrap_err();
    assert_eq!(error.status, sys::ELIZA_ERR_CANCELLED);
    assert_eq!(Vocabulary::new(&["a"], &[1]).unwrap_err().message, "the end token 1 is not in the vocabulary");
    assert_eq!(Vocabulary::with_flags(&["a"], &[]).unwrap_err().message, "1 tokens have 0 flags");
}

#[test]
fn a_batch_is_filled_on_threads() {
    let vocabulary = vocabulary();
    let schema = r#"{"type": "object", "properties": {"a": {"type": "integer"}}}"#;
    let constraint = Constraint::json_schema(&vocabulary, schema, &JsonOptions::default(), &Budget::default()).unwrap();
    let mut matchers: Vec<Matcher> = (0..4).map(|_| Matcher::new(&constraint).unwrap()).collect();
    matchers[1].accept(b'{' as i32).unwrap();
    let n_words = (vocabulary.n_tokens() + 31) / 32;
    let mut words = vec![0; 4 * n_words];
    fill_bitmaps(&mut matchers.iter_mut().collect::<Vec<_>>(), &mut words, 2).unwrap();
    for (matcher, row) in matchers.iter_mut().zip(words.chunks(n_words)) {
        let mut alone = vec![0; n_words];
        matcher.fill_bitmap(&mut alone).unwrap();
        assert_eq!(row, alone);
        assert!(alone.iter().any(|&word| word != 0));
    }
    let mut short = vec![0; 4];
    let error = fill_bitmaps(&mut matchers.iter_mut().collect::<Vec<_>>(), &mut short, 1).unwrap_err();
    assert_eq!(error.status, sys::ELIZA_ERR_INVALID_ARG);
}

#[test]
fn the_rows_of_a_batch_are_masked() {
    let vocabulary = vocabulary();
    let constraint = Constraint::gbnf(&vocabulary, "root ::= \"(\" root \")\" | \"x\"", &Budget::default()).unwrap();
    let mut matchers: Vec<Matcher> = (0..2).map(|_| Matcher::new(&constraint).unwrap()).collect();
    matchers[1].accept(b'x' as i32).unwrap();
    let n_logits = vocabulary.n_tokens() + 2;
    let mut logits = vec![0.0; 3 * n_logits];
    let mut batch: Vec<&mut Matcher> = matchers.iter_mut().collect();
    mask_rows(&mut batch, &mut logits, n_logits, &[2, 0], 2).unwrap();
    for rows in [[0, 3].as_slice(), &[0]] {
        let error = mask_rows(&mut batch, &mut logits, n_logits, rows, 1).unwrap_err();
        assert_eq!(error.status, sys::ELIZA_ERR_INVALID_ARG);
    }
    assert!(mask_rows(&mut batch, &mut logits, 3, &[0, 1], 1).is_err());
    for (row, matcher) in [(2, 0), (0, 1)] {
        let mut alone = vec![0.0; n_logits];
        matchers[matcher].mask_logits(&mut alone).unwrap();
        assert_eq!(logits[row * n_logits..][..n_logits], alone);
    }
    assert!(logits[n_logits..2 * n_logits].iter().all(|&logit| logit == 0.0));
}

#[test]
fn threads_share_a_constraint() {
    let vocabulary = vocabulary();
    let constraint = Constraint::gbnf(&vocabulary, "root ::= \"(\" root \")\" | \"x\"", &Budget::default()).unwrap();
    thread::scope(|scope| {
        for depth in 1..5usize {
            let constraint = &constraint;
            scope.spawn(move || {
                let mut matcher = Matcher::new(constraint).unwrap();
                let text = "(".repeat(depth) + "x" + &")".repeat(depth);
                assert!(text.bytes().all(|byte| matcher.accept(byte as i32).unwrap()));
                assert!(matcher.can_stop().unwrap());
            });
        }
    });
}

#[test]
fn files_come_back() {
    let folder = std::env::temp_dir().join(format!("eliza-inference-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let vocabulary = vocabulary();
    let constraint = Constraint::lark(&vocabulary, "start: /[0-9]/", &Budget::default()).unwrap();
    constraint.prepare(&Budget::default()).unwrap();
    vocabulary.save(&path("vocabulary")).unwrap();
    constraint.save(&path("constraint")).unwrap();
    let opened = Vocabulary::open(&path("vocabulary")).unwrap();
    assert_eq!(opened.n_tokens(), vocabulary.n_tokens());
    assert_eq!(opened.bytes(END), b"</s>");
    let constraint = Constraint::open(&opened, &path("constraint"), &Budget::default()).unwrap();
    let mut matcher = Matcher::new(&constraint).unwrap();
    assert!(matcher.accept(b'7' as i32).unwrap());
    assert_eq!(Vocabulary::open(&path("missing")).unwrap_err().status, sys::ELIZA_ERR_IO);
    std::fs::remove_dir_all(folder).unwrap();
}
