//! The quoting of a POSIX shell, read without a shell.

/// The words of one simple command in which nothing but quotes and spaces means anything.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' => words.extend(word.take()),
            '\'' => quoted(&mut chars, word.get_or_insert_default()),
            '"' => doubly_quoted(&mut chars, word.get_or_insert_default()),
            '\\' => match chars.next().expect("something is escaped") {
                '\n' => {}
                c => word.get_or_insert_default().push(c),
            },
            c => {
                let special = c.is_control() || "|&;<>()$`*?[{~#!".contains(c);
                assert!(!special, "a shell obeys {c:?} in {text:?}");
                word.get_or_insert_default().push(c);
            }
        }
    }
    words.extend(word);
    words
}

fn quoted(chars: &mut impl Iterator<Item = char>, word: &mut String) {
    for c in chars {
        if c == '\'' {
            return;
        }
        word.push(c);
    }
    panic!("a quote is not closed");
}

fn doubly_quoted(chars: &mut impl Iterator<Item = char>, word: &mut String) {
    while let Some(c) = chars.next() {
        match c {
            '"' => return,
            '\\' => match chars.next().expect("something is escaped") {
                '\n' => {}
                c if "$`\"\\".contains(c) => word.push(c),
                c => word.extend(['\\', c]),
            },
            c => {
                assert!(!"$`".contains(c), "a shell obeys {c:?} in double quotes");
                word.push(c);
            }
        }
    }
    panic!("a quote is not closed");
}
